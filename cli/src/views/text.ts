import type { CliError } from '../errors.ts'
import type { Finding } from '../release/release.ts'

export function findingLines({ severity, file, message, fix }: Finding): string {
  return `${severity}: ${file}: ${message}\n  fix: ${fix}`
}

export function errorLines(error: CliError): string {
  const { message, details, advice } = error
  return [
    `plinth: ${message}`,
    ...details.map((detail) => `  ${detail}`),
    ...(advice ? [`  ${advice}`] : []),
  ].join('\n')
}

/** Bytes as a person reads them. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
