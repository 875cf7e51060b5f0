import { Readable } from 'node:stream'
import { authorizeAnyone } from '../../auth/authorize.ts'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import { BlobTooLarge } from '../../blobs/blob-store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { parseOutputs, StateFileError, type StateOutput } from '../../lib/state-file.ts'
import * as workspaces from '../workspaces/service.ts'
import { type Announcement, admit, announce, findRepeated, type Maker, reread, save } from './acceptance.ts'
import { inspect } from './inspection.ts'
import { maxJsonBytes } from './limits.ts'
import type { StateVersion } from './store.ts'
import * as store from './store.ts'

export interface NewStateVersion {
  serial: number
  md5: string
  lineage?: string | null | undefined
  force?: boolean | null | undefined
  /** Base64; without it the state comes by the links of the version. */
  state?: string | null | undefined
  jsonState?: string | null | undefined
  jsonStateOutputs?: string | null | undefined
  runId: string | null
  /** Whether the CLI sent it, which compares serials itself unless it is told to force its state on the workspace. */
  isFromCli: boolean
}

/** Makes a state version of a workspace that the subject has locked, now or when its state is uploaded. */
export async function create(ctx: Ctx, workspaceId: string, given: NewStateVersion): Promise<StateVersion> {
  await workspaces.get(ctx, { id: workspaceId }, 'state-versions:create')
  const announcedOutputs = toOutputs(given.jsonStateOutputs)
  const maker = makerOf(ctx, workspaceId, given.runId)
  const mayGoBack = given.isFromCli
  const staged: StagedBytes[] = []
  try {
    const raw = await stage(ctx, given.state, 'state', ctx.config.maxStateBytes, staged)
    const json = await stage(ctx, given.jsonState, 'json-state', maxJsonBytes(ctx), staged)
    const file = raw && (await inspect(raw, given.md5))
    const announced = toAnnouncement(given, file?.lineage)
    return await inTransaction(ctx, async (tx) => {
      await workspaces.get(tx, { id: workspaceId }, 'state-versions:create')
      if (given.runId && !(await store.isRunOf(tx.db, given.runId, workspaceId))) throw unknownRun()
      if (raw && file) return save(tx, maker, announced, { raw, file, json }, { announcedOutputs, mayGoBack })
      return expectUpload(tx, maker, announced, { announcedOutputs, mayGoBack })
    })
  } finally {
    await Promise.all(staged.map((bytes) => bytes.discard()))
  }
}

async function expectUpload(
  tx: Ctx,
  maker: Maker,
  announced: Announcement,
  { announcedOutputs, mayGoBack }: { announcedOutputs: StateOutput[] | undefined; mayGoBack: boolean },
): Promise<StateVersion> {
  const { current } = await admit(tx, maker, announced, mayGoBack)
  const repeated = findRepeated(current, maker, announced)
  return repeated ?? reread(tx, await announce(tx, maker, announced, { announcedOutputs }))
}

/** The subject, as whoever brings a state. */
export function makerOf(ctx: Ctx, workspaceId: string, runId: string | null): Maker {
  const { kind, id } = authorizeAnyone(ctx)
  return {
    workspaceId,
    runId,
    isRun: false,
    userId: kind === 'user' ? id : null,
    teamId: kind === 'team' ? id : null,
  }
}

/** What is not announced is what the state itself says. */
function toAnnouncement({ serial, md5, lineage, force }: NewStateVersion, ownLineage?: string): Announcement {
  return { serial, md5, lineage: lineage || ownLineage || '', force: force ?? false }
}

function toOutputs(given: string | null | undefined): StateOutput[] | undefined {
  if (!given) return undefined
  const pointer = '/data/attributes/json-state-outputs'
  try {
    return parseOutputs(JSON.parse(fromBase64(given, pointer).toString()))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof StateFileError)) throw error
    const detail = error instanceof StateFileError ? error.message : 'they are not JSON'
    throw new AppError('invalid', `Json state outputs are invalid: ${detail}`, { pointer, cause: error })
  }
}

async function stage(
  ctx: Ctx,
  given: string | null | undefined,
  attribute: string,
  maxBytes: number,
  staged: StagedBytes[],
): Promise<StagedBytes | undefined> {
  if (!given) return undefined
  const bytes = fromBase64(given, `/data/attributes/${attribute}`)
  try {
    const received = await ctx.sealed.stage(Readable.from([bytes], { objectMode: false }), maxBytes)
    staged.push(received)
    return received
  } catch (error) {
    if (!(error instanceof BlobTooLarge)) throw error
    throw new AppError('tooLarge', `The state is larger than ${maxBytes} bytes (PLINTH_MAX_STATE_BYTES).`)
  }
}

function fromBase64(given: string, pointer: string): Buffer {
  const compact = given.replaceAll(/\s/g, '')
  const bytes = Buffer.from(compact, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') === compact.replace(/=+$/, '')) return bytes
  throw new AppError('invalid', `${nameIn(pointer)} must be base64`, { pointer })
}

function nameIn(pointer: string): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1).replaceAll('-', ' ')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function unknownRun(): AppError {
  return new AppError('invalid', 'Run does not exist in the workspace', {
    pointer: '/data/relationships/run/data/id',
  })
}
