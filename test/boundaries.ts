import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

// `npm run check:boundaries`. dependency-cruiser says that all is well when it saw nothing at all (it skips
// TypeScript silently when it cannot find a compiler it knows), so the number of modules is checked as well.

const ROOT = join(import.meta.dirname, '..')

export interface Boundaries {
  modules: number
  /** `rule: importing file → imported file` */
  violations: string[]
}

interface Report {
  modules: unknown[]
  summary: { violations: { rule: { name: string }; from: string; to: string }[]; totalCruised: number }
}

/** Checks what `directory` has of src and cli by the rules of `.dependency-cruiser.cjs`. */
export function cruise(directory: string): Boundaries {
  const sources = ['src', 'cli'].filter((name) => existsSync(join(directory, name)))
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      ...['--config', join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json', ...sources],
    ],
    { cwd: directory, encoding: 'utf8', maxBuffer: 100 << 20 },
  )
  if (!stdout) throw new Error(`dependency-cruiser failed: ${stderr}`)
  const { summary } = JSON.parse(stdout) as Report
  return {
    modules: summary.totalCruised,
    violations: summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  }
}

if (import.meta.main) {
  const { modules, violations } = cruise(process.cwd())
  for (const violation of violations) process.stdout.write(`${violation}\n`)
  process.stdout.write(`${modules} modules, ${violations.length} forbidden dependencies\n`)
  if (modules === 0 || violations.length > 0) process.exitCode = 1
}
