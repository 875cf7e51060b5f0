import { Readable } from 'node:stream'
import * as blobs from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import type { Log } from './store.ts'
import * as store from './store.ts'

/** Clients tell by these bytes that a log has begun and that it is all there. */
const STX = '\x02'
const ETX = '\x03'

/** Bytes of a chunk at most, and read at once. */
const CHUNK_BYTES = 64 * 1024

const TRUNCATED = '\n[The log is longer than PLINTH_MAX_LOG_BYTES allows; what follows is not kept.]\n'

/** A link is asked for once and then read from until the phase ends, which may have to wait first. */
const LINK_SECONDS = 24 * 3600

/** Begins the log of a plan or an apply, whose id it gets; part of making the run. */
export async function open(tx: Ctx, { id, runId }: { id: string; runId: string }): Promise<void> {
  await store.insert(tx.db, { id, runId, length: 1, written: 0, ended: false, blobKey: null })
  await store.insertChunk(tx.db, { logId: id, start: 0, length: 1, text: STX })
}

/**
 * Appends text. A worker says at which byte of all that it has written the text stands (`start`), so that what it
 * says twice is kept once; the server's own text is appended as it comes. What comes after the end is dropped, and so
 * is what a worker writes beyond `PLINTH_MAX_LOG_BYTES`, with a line that says so: the run goes on.
 */
export async function append(tx: Ctx, id: string, text: string, start?: number): Promise<void> {
  const log = await store.findForUpdate(tx.db, id)
  if (!log) throw notFound()
  if (log.ended) return
  const bytes = toBytes(text)
  if (start === undefined) return write(tx, log, bytes)
  if (start > log.written)
    throw new AppError('conflict', `The bytes from ${log.written} to ${start} of this log have not come yet.`)
  const fresh = bytes.subarray(log.written - start)
  const written = log.written + fresh.length
  if (fresh.length > 0)
    await write(tx, { ...log, written }, within(tx.config.maxLogBytes - log.length, fresh))
}

/** The bytes for which there is `room`; where it ends, a line tells that there was more. */
function within(room: number, bytes: Buffer): Buffer {
  if (bytes.length <= room) return bytes
  if (room < 0) return Buffer.alloc(0)
  return Buffer.concat([bytes.subarray(0, wholeCharacters(bytes, room)), Buffer.from(TRUNCATED)])
}

/** Lets another worker begin: what it writes comes after all that is there, and is counted from 0 again. */
export function resume(tx: Ctx, id: string): Promise<void> {
  return store.update(tx.db, id, { written: 0 })
}

/** Ends the log, for good. */
export async function end(tx: Ctx, id: string, lastText = ''): Promise<void> {
  const log = await store.findForUpdate(tx.db, id)
  if (!log) throw notFound()
  if (!log.ended) await write(tx, { ...log, ended: true }, toBytes(lastText + ETX))
}

/** A text column holds no NUL; its place is kept, because positions are counted in bytes. */
function toBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('\0', ' '))
}

async function write(tx: Ctx, { id, length, written, ended }: Log, bytes: Buffer): Promise<void> {
  let start = length
  for (const text of inChunks(bytes)) {
    const chunk = { logId: id, start, length: Buffer.byteLength(text), text }
    await store.insertChunk(tx.db, chunk)
    start += chunk.length
  }
  await store.update(tx.db, id, { length: start, written, ended })
}

/** The text of the bytes in pieces, none of which ends inside of a character. */
function* inChunks(bytes: Buffer): Generator<string> {
  for (let from = 0; from < bytes.length; ) {
    const to = wholeCharacters(bytes, Math.min(from + CHUNK_BYTES, bytes.length))
    yield bytes.toString('utf8', from, to)
    from = to
  }
}

/** The last position up to `end` that is not inside of a character. */
function wholeCharacters(bytes: Buffer, end: number): number {
  let to = end
  while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to -= 1
  return to
}

/** The address from which the log is read, also while it is written. Who has it needs no token. */
export function readUrl(ctx: Ctx, id: string): string {
  const { planTimeout, applyTimeout } = ctx.config.runs
  const seconds = LINK_SECONDS + Math.max(planTimeout, applyTimeout)
  return ctx.links.sign({ method: 'GET', kind: 'logs', id }, ctx.now(), seconds)
}

/** What there is now of the `limit` bytes from `offset` on: how many, and a stream of them. */
export async function read(ctx: Ctx, id: string, offset: number, limit: number) {
  const log = await store.find(ctx.db, id)
  if (!log) throw notFound()
  const end = Math.min(log.length, offset + limit)
  const length = Math.max(0, end - offset)
  return { length, bytes: Readable.from(bytesOf(ctx, log, offset, end), { objectMode: false }) }
}

/** Bytes `from` to `end` (which is not included) of the log, read a piece at a time. */
async function* bytesOf(ctx: Ctx, log: Log, from: number, end: number): AsyncGenerator<Buffer> {
  for (let at = from; at < end && !log.blobKey; ) {
    const to = Math.min(end, at + CHUNK_BYTES)
    const chunks = await store.listChunks(ctx.db, log.id, at, to - 1)
    // It was moved a moment ago.
    if (chunks.length === 0) return yield* bytesOf(ctx, await reread(ctx, log.id), at, end)
    for (const { start, text } of chunks) {
      const bytes = Buffer.from(text).subarray(Math.max(0, at - start), to - start)
      if (bytes.length > 0) yield bytes
    }
    at = to
  }
  if (log.blobKey && from < end) yield* await ctx.sealed.read(log.blobKey, { start: from, end: end - 1 })
}

async function reread(ctx: Ctx, id: string): Promise<Log> {
  const log = await store.find(ctx.db, id)
  if (!log) throw notFound()
  return log
}

/**
 * Moves an ended log out of the database. It is sealed there: sensitive values are masked in it, but not what an
 * engine makes of them, such as what it prints of its requests when it is debugged.
 */
export async function moveOut(ctx: Ctx, { id, workspaceId }: { id: string; workspaceId: string }) {
  const log = await store.find(ctx.db, id)
  if (!log || log.blobKey) return
  const whole = Readable.from(bytesOf(ctx, log, 0, log.length), { objectMode: false })
  const staged = await ctx.sealed.stage(whole, log.length)
  await inTransaction(ctx, async (tx) => {
    const key = `logs/${id}`
    await blobs.keep(tx.db, key, staged, tx.now(), workspaceId)
    await store.update(tx.db, id, { blobKey: key })
    await store.removeChunks(tx.db, id)
  }).finally(staged.discard)
}

/** Logs that `moveOut` can take. */
export function listEnded(ctx: Ctx, limit: number) {
  return store.listEnded(ctx.db, limit)
}
