import type { ProviderStatus } from '../commands/provider-status.ts'

export function textOf({ name, version, status, installable, files, problems }: ProviderStatus): string {
  const all = [...problems, ...files.flatMap((file) => file.problems)]
  return [
    `${name} ${version}${status ? ` is ${status}` : ''}; ${installable ? 'it can be installed' : 'nobody can install it'}.`,
    ...files.map(({ filename, uploaded }) => `  ${uploaded ? 'uploaded' : 'missing '}  ${filename}`),
    ...all.flatMap(({ detail, mend }) => [`problem: ${detail}`, `  fix: ${mend}`]),
    '',
  ].join('\n')
}

export function jsonOf({ name, version, status, installable, files, problems }: ProviderStatus): object {
  return { name, version, status: status ?? null, installable, files, problems }
}
