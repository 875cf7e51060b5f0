import { SEMVER } from '../../../src/lib/semver.ts'
import type { FoundRelease } from './find.ts'
import type { Finding } from './release.ts'

/** What clients take for the name of a provider: `terraform` refuses any other before it asks anybody. */
const ADDRESSABLE = /^[a-z0-9]+(-[a-z0-9]+)*$/

export function nameFindings({ name, version, directory }: FoundRelease): Finding[] {
  const findings: Finding[] = []
  if (!ADDRESSABLE.test(name) || name.startsWith('terraform-')) {
    findings.push({
      severity: 'error',
      code: 'name-not-addressable',
      file: directory,
      message: `terraform cannot name a provider "${name}"`,
      fix: 'Use lower-case letters, digits and single dashes inside, without "terraform-" before them.',
    })
  }
  if (!new RegExp(SEMVER).test(version)) {
    findings.push({
      severity: 'error',
      code: 'version-malformed',
      file: directory,
      message: `"${version}" is not a semantic version`,
      fix: 'Tag the release like v1.2.3.',
    })
  }
  return findings
}
