import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { type LogHead, type LogHeader, type Verdict, verifyExport } from '../../../src/lib/registry-log.ts'
import { CliError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { openSession, type SessionOptions } from './session.ts'

export interface RegistryVerifyOptions extends SessionOptions {
  /** A file that `save` wrote before. */
  since?: string
  save?: string
}

/** What is remembered of a log from one check to the next. */
export interface Remembered {
  organization: string
  head: LogHead | null
  /** Ids of the keys that sign it. */
  keys: string[]
}

/**
 * Checks the transparency log of a registry: the exported one in `file`, or else that of the server. Throws `CliError`
 * that names the first bad record.
 */
export async function registryVerify(
  file: string | undefined,
  options: RegistryVerifyOptions,
  io: Io,
  observe: Observer,
): Promise<Remembered> {
  const since = options.since === undefined ? undefined : await recall(options.since)
  const { header, verdict } = file
    ? await verifyFile(file, since?.head ?? undefined)
    : await verifyServer(options, io, observe, since?.head ?? undefined)
  const keys = header.keys.map(({ id }) => id)
  if (since) requireSameLog(since, header, keys)
  if (!verdict.ok) {
    const where = verdict.sequence === undefined ? 'before its first record' : `at record ${verdict.sequence}`
    throw new CliError('release', `the log is broken ${where}: ${verdict.why}`, {
      advice: 'Keep this export, and compare it with one that was taken before.',
    })
  }
  const remembered = { organization: header.organization.id, head: verdict.head ?? null, keys }
  if (options.save) await writeFile(options.save, `${JSON.stringify(remembered)}\n`)
  return remembered
}

type Checked = { header: LogHeader; verdict: Verdict }

async function verifyFile(file: string, since: LogHead | undefined): Promise<Checked> {
  const stream = createReadStream(file)
  return verifyLines(stream, since).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error
    throw new CliError('usage', `${file} cannot be read (${error.code})`)
  })
}

async function verifyServer(
  options: RegistryVerifyOptions,
  io: Io,
  observe: Observer,
  since: LogHead | undefined,
): Promise<Checked> {
  const { client, organization } = await openSession(options, io, observe)
  const path = `/api/v2/organizations/${encodeURIComponent(organization)}/registry-log/export`
  return client.answer(path, async ({ body }) =>
    verifyLines(body ? Readable.fromWeb(body) : Readable.from([]), since),
  )
}

async function verifyLines(stream: Readable, since: LogHead | undefined): Promise<Checked> {
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
  // An interface that ends early does not tell why its stream failed.
  const failed = new Promise<never>((_resolve, reject) => stream.once('error', reject))
  try {
    return await Promise.race([verifyExport(lines, since), failed])
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new CliError('release', `this is not the export of a registry log (${error.message})`)
  } finally {
    failed.catch(() => undefined)
    stream.destroy()
  }
}

async function recall(file: string): Promise<Remembered> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError('usage', `--since ${file} cannot be read (${error.code})`, {
      advice: 'The first check writes it: --save FILE',
    })
  })
  try {
    const { organization, head, keys } = JSON.parse(text) as Remembered
    if (typeof organization === 'string' && Array.isArray(keys)) return { organization, head, keys }
  } catch {
    // Told of below.
  }
  throw new CliError('usage', `--since ${file} is not what --save writes`)
}

/** Keys may be added; a log that some of its keys are gone from was signed anew by others. */
function requireSameLog(since: Remembered, { organization }: LogHeader, keys: readonly string[]): void {
  if (organization.id !== since.organization) {
    throw new CliError('release', `this is the log of ${organization.id}, not that of ${since.organization}`)
  }
  const gone = since.keys.filter((id) => !keys.includes(id))
  if (gone.length > 0) {
    throw new CliError('release', `the log was signed by ${gone.join(', ')} before, and is so no more`, {
      advice: 'Somebody replaced the log as a whole, or the server lost its data.',
    })
  }
}
