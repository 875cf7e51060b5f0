import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { type Publication, publish } from '../publish/publish.ts'
import { FindingsError } from '../release/findings-error.ts'
import { type InspectOptions, inspectRelease } from '../release/inspect.ts'
import type { Finding, Release } from '../release/release.ts'
import { openSession, type SessionOptions, tellOfNewer } from './session.ts'

export interface ProviderPublishOptions extends SessionOptions, InspectOptions {
  dryRun?: boolean
  parallel: number
  /** Whether the archives are fetched again in the end. */
  download: boolean
}

/** What `plinth provider publish` ends with; without a publication nobody was asked for anything. */
export interface ProviderPublishResult {
  release: Release
  findings: Finding[]
  publication: Publication | undefined
}

export async function providerPublish(
  directory: string,
  options: ProviderPublishOptions,
  io: Io,
  observe: Observer,
): Promise<ProviderPublishResult> {
  // What is missing for publishing is told before time is spent on archives.
  const target = options.dryRun ? undefined : await openSession(options, io, observe)
  const passphrase = io.env['PLINTH_KEY_PASSPHRASE']
  const inspection = await inspectRelease(directory, { ...options, passphrase }, io.signal)
  const { found, release, findings } = inspection
  if (!release) throw new FindingsError(`${found.name} ${found.version}`, findings)
  if (!target) return { release, findings, publication: undefined }

  for (const finding of findings) observe({ type: 'finding', finding })
  if (options.sign) {
    for (const { filename, bytes } of [release.shasums, release.signature]) {
      await writeFile(join(directory, filename), bytes)
    }
  }
  const { client, organization } = target
  await tellOfNewer(client, observe)
  const { parallel, download } = options
  const publication = await publish(client, release, { organization, parallel, downloads: download }, observe)
  return { release, findings, publication }
}
