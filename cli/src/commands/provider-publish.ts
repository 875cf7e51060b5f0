import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '../api/client.ts'
import { type ConnectionOptions, connectionOf, organizationOf } from '../connection.ts'
import { CliError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { type Publication, publish } from '../publish/publish.ts'
import { type Inspection, type InspectOptions, inspectRelease } from '../release/inspect.ts'
import type { Finding, Release } from '../release/release.ts'

export interface ProviderPublishOptions extends ConnectionOptions, InspectOptions {
  organization?: string
  dryRun?: boolean
  parallel: number
  retries: number
  /** Whether the archives are fetched again in the end. */
  download: boolean
}

/** What `plinth provider publish` ends with; without a publication nobody was asked for anything. */
export interface ProviderPublishResult {
  release: Release
  findings: Finding[]
  publication: Publication | undefined
}

/** A release that is not in order. */
export class FindingsError extends CliError {
  override name = 'FindingsError'
  readonly findings: readonly Finding[]

  constructor({ findings, found }: Inspection) {
    const errors = findings.filter(({ severity }) => severity === 'error').length
    super(
      'release',
      `${found.name} ${found.version} is not published: ${errors} of its findings must be mended`,
    )
    this.findings = findings
  }
}

export async function providerPublish(
  directory: string,
  options: ProviderPublishOptions,
  io: Io,
  observe: Observer,
): Promise<ProviderPublishResult> {
  // What is missing for publishing is told before time is spent on archives.
  const target = options.dryRun
    ? undefined
    : { organization: organizationOf(options, io), connection: await connectionOf(options, io) }
  const passphrase = io.env['PLINTH_KEY_PASSPHRASE']
  const inspection = await inspectRelease(directory, { ...options, passphrase }, io.signal)
  const { release, findings } = inspection
  if (!release) throw new FindingsError(inspection)
  if (!target) return { release, findings, publication: undefined }

  for (const finding of findings) observe({ type: 'finding', finding })
  if (options.sign) {
    for (const { filename, bytes } of [release.shasums, release.signature]) {
      await writeFile(join(directory, filename), bytes)
    }
  }
  const client = new Client(target.connection, {
    retries: options.retries,
    signal: io.signal,
    onRetry: (reason, delayMs) => observe({ type: 'retry', reason, delayMs }),
  })
  const { organization } = target
  const { parallel, download } = options
  const publication = await publish(client, release, { organization, parallel, downloads: download }, observe)
  return { release, findings, publication }
}
