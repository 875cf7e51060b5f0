import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { type Canonical, canonicalJson } from './canonical-json.ts'

/** What the first record of a log has in place of the hash before it. */
export const NO_RECORD = '0'.repeat(64)

/** What is signed begins with this, so that no signature of the key can be taken for one of something else. */
const SIGNED = 'plinth registry log\n'

/** What happened to a registry, as the record of its log tells it. */
export interface LogContent {
  readonly organization: { readonly id: string; readonly name: string }
  /** From 1, without gaps. */
  readonly sequence: number
  /** ISO 8601. */
  readonly time: string
  readonly action: string
  readonly subject: { readonly kind: string; readonly [property: string]: Canonical | undefined }
  readonly actor: { readonly type: string; readonly id: string | null; readonly name: string | null }
  /** The hash of the record before this one; `NO_RECORD` in the first. */
  readonly previous: string
  /** The id of the key that signed the record. */
  readonly key: string
}

/** A record, as everybody gets it. Each property besides the last two is part of what is hashed. */
export interface LogRecord extends LogContent {
  /** SHA-256 of the canonical JSON of the content, in hexadecimal. */
  readonly hash: string
  /** Of the hash, by Ed25519, in hexadecimal. */
  readonly signature: string
}

/** A key that signs a log, as everybody gets it: the public key is SubjectPublicKeyInfo in base64. */
export interface LogKey {
  readonly id: string
  readonly 'public-key': string
}

/** Where a log ends, or ended when it was looked at last. */
export interface LogHead {
  readonly sequence: number
  readonly hash: string
}

/** The first line of an exported log; its records follow, each on a line of its own. */
export interface LogHeader {
  readonly organization: { readonly id: string; readonly name: string }
  /** Null for a log without records. */
  readonly head: LogHead | null
  readonly keys: readonly LogKey[]
}

/** Whether a log is what it says; `head` is undefined where there were no records. */
export type Verdict =
  | { ok: true; head: LogHead | undefined }
  | { ok: false; sequence: number | undefined; why: string }

/** A new key for a log; the private part is PKCS #8 in base64. */
export function newLogKey(): { id: string; publicKey: string; privateKey: string } {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
  return {
    id: keyIdOf(publicKey),
    publicKey: publicKey.toString('base64'),
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  }
}

/** Hashes and signs a record. */
export function sealRecord(content: LogContent, privateKey: string): LogRecord {
  const hash = hashOf(content)
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), type: 'pkcs8', format: 'der' })
  return { ...content, hash, signature: sign(null, Buffer.from(SIGNED + hash), key).toString('hex') }
}

/**
 * Checks records of one log, oldest first: that nobody changed, removed, added or moved one since they were signed by
 * one of `keys`. They begin with the first, or at the latest with the one that `since` names: where the log ended when
 * it was checked before. A log that does not lead there any more was rewound, as by a restored backup, or replaced.
 * Records without end can be checked; what is not even a record is told of, not thrown.
 */
export async function verifyLog(
  records: Iterable<unknown> | AsyncIterable<unknown>,
  keys: readonly LogKey[],
  since?: LogHead,
): Promise<Verdict> {
  const known = openKeys(keys)
  let last: LogRecord | undefined
  for await (const value of records) {
    const record = value as LogRecord
    const why = whyWrong(record, last, known, since)
    if (why) return { ok: false, sequence: last ? last.sequence + 1 : numberOf(record), why }
    last = record
  }
  if (since && (last?.sequence ?? 0) < since.sequence)
    return {
      ok: false,
      sequence: last && last.sequence + 1,
      why: `the log ends before record ${since.sequence}, which it had`,
    }
  return { ok: true, head: last && { sequence: last.sequence, hash: last.hash } }
}

/**
 * Checks an exported log, line by line, with the keys that it brings; who has seen it before compares their ids. Throws
 * `SyntaxError` for what is not such an export.
 */
export async function verifyExport(
  lines: Iterable<string> | AsyncIterable<string>,
  since?: LogHead,
): Promise<{ header: LogHeader; verdict: Verdict }> {
  const [header, records] = await openExport(lines)
  const verdict = await verifyLog(records, header.keys, since)
  const told = header.head
  if (!verdict.ok || verdict.head?.hash === told?.hash) return { header, verdict }
  const why = `the log ends before record ${told?.sequence}, where it says that it does`
  return { header, verdict: { ok: false, sequence: verdict.head && verdict.head.sequence + 1, why } }
}

async function openExport(lines: Iterable<string> | AsyncIterable<string>) {
  const parsed = parseLines(lines)
  const { value } = await parsed.next()
  const header = value as LogHeader | undefined
  const isKey = (key: LogKey) => typeof key?.id === 'string' && typeof key['public-key'] === 'string'
  if (!header?.organization || !Array.isArray(header.keys) || !header.keys.every(isKey))
    throw new SyntaxError('not an exported registry log')
  return [header, parsed] as const
}

async function* parseLines(
  lines: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<unknown, undefined> {
  for await (const line of lines) if (line !== '') yield JSON.parse(line)
}

type OpenKey = ReturnType<typeof createPublicKey>

/** By id. What is not a key by Ed25519, or has not its own id, is left out. */
function openKeys(keys: readonly LogKey[]): Map<string, OpenKey> {
  const open = new Map<string, OpenKey>()
  for (const { id, 'public-key': text } of keys) {
    const der = Buffer.from(text, 'base64')
    if (keyIdOf(der) !== id) continue
    const key = createPublicKey({ key: der, type: 'spki', format: 'der' })
    if (key.asymmetricKeyType === 'ed25519') open.set(id, key)
  }
  return open
}

/** The first 32 hexadecimal digits of the SHA-256 of the SubjectPublicKeyInfo. */
function keyIdOf(der: Buffer): string {
  return createHash('sha256').update(der).digest('hex').slice(0, 32)
}

function whyWrong(
  record: LogRecord,
  last: LogRecord | undefined,
  keys: Map<string, OpenKey>,
  since: LogHead | undefined,
): string | undefined {
  if (numberOf(record) === undefined) return 'it is not a record'
  return (
    whyMisplaced(record, last, since) ??
    whyForged(record, keys) ??
    (since?.sequence === record.sequence && since.hash !== record.hash
      ? 'it is another record than the one that was there before'
      : undefined)
  )
}

function whyMisplaced(
  { sequence, previous, organization }: LogRecord,
  last: LogRecord | undefined,
  since: LogHead | undefined,
): string | undefined {
  if (!last) {
    if (sequence > Math.max(1, since?.sequence ?? 1)) return `the records begin with number ${sequence}`
    return sequence === 1 && previous !== NO_RECORD
      ? 'it is the first, and refers to one before it'
      : undefined
  }
  if (sequence !== last.sequence + 1) return `record ${sequence} is in its place`
  if (previous !== last.hash) return 'it does not refer to the record before it'
  return organization?.id === last.organization?.id ? undefined : 'it is of another organization'
}

function whyForged(record: LogRecord, keys: Map<string, OpenKey>): string | undefined {
  const { hash, signature, ...content } = record
  if (contentHash(content) !== hash) return 'it does not have the hash that it says'
  const key = keys.get(record.key)
  if (!key) return `nobody knows the key ${record.key}`
  // Hexadecimal is one of many spellings of bytes: only this one is a signature.
  const isSpelt = typeof signature === 'string' && /^[0-9a-f]{128}$/.test(signature)
  if (!isSpelt || !verify(null, Buffer.from(SIGNED + hash), key, Buffer.from(signature, 'hex')))
    return 'its signature is not that of the key'
  return undefined
}

function contentHash(content: LogContent): string | undefined {
  try {
    return hashOf(content)
  } catch {
    return undefined
  }
}

function hashOf(content: LogContent): string {
  return createHash('sha256')
    .update(canonicalJson(content as unknown as Canonical))
    .digest('hex')
}

function numberOf(record: LogRecord | null | undefined): number | undefined {
  const sequence: unknown = record?.sequence
  return Number.isSafeInteger(sequence) && Number(sequence) > 0 ? Number(sequence) : undefined
}
