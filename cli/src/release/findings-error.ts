import { CliError } from '../errors.ts'
import type { Finding } from './release.ts'

/** Something that is not in order, so that it is not published. */
export class FindingsError extends CliError {
  override name = 'FindingsError'
  readonly findings: readonly Finding[]

  constructor(what: string, findings: readonly Finding[]) {
    const errors = findings.filter(({ severity }) => severity === 'error').length
    super('release', `${what} is not published: ${errors} of its findings must be mended`)
    this.findings = findings
  }
}
