import type { Readable } from 'node:stream'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import type { Ctx, Services } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { get } from './reading.ts'
import * as store from './store.ts'

// The raw state of an apply that could not be saved. It is kept by a link that the worker has had from the start, and
// as a file that no row knows: neither needs the database, which may be what is missing.

/** How the links are called, and the files. */
export const KIND = 'errored-states'

/** How long the redirect to an errored state leads anywhere (spec, 4.2). */
const READ_SECONDS = 60

/** Beyond the timeout of the apply: the time for keeping a state after all. */
const GRACE_SECONDS = 24 * 3600

/** Bytes: what was too large as a state must find room here. */
export function maxBytes({ config }: Pick<Services, 'config'>): number {
  return Math.max(4 * config.maxStateBytes, config.maxUploadBytes)
}

/** The address where the worker of an apply may put a state that is not accepted. */
export function recoveryUrl(ctx: Ctx, applyId: string): string {
  const target = { method: 'PUT', kind: KIND, id: applyId } as const
  return ctx.links.sign(target, ctx.now(), ctx.config.runs.applyTimeout + GRACE_SECONDS)
}

/** Keeps a state that was received already, in the place of one that was kept before. */
export function keepStaged(applyId: string, staged: StagedBytes): Promise<void> {
  return staged.store(keyOf(applyId))
}

/** Keeps a state. */
export async function keep(ctx: Ctx, applyId: string, source: Readable): Promise<void> {
  const staged = await ctx.sealed.stage(source, maxBytes(ctx))
  await keepStaged(applyId, staged).finally(staged.discard)
}

/** Where a state that was kept lies, without a look into the database; 404 when there is none. */
export async function locate({ sealed }: Ctx, applyId: string) {
  const size = await sealed.size(keyOf(applyId))
  if (size === undefined) throw notFound()
  return {
    blobKey: keyOf(applyId),
    sealed: true,
    size,
    filename: `${applyId}.tfstate`,
    contentType: 'application/json',
  }
}

/** A new link to the raw state, for whoever may read state; 404 when none was kept. */
export async function link(ctx: Ctx, applyId: string): Promise<string> {
  const { id } = await get(ctx, applyId, 'state-versions:read')
  await locate(ctx, id)
  // Two links of one second differ in their names only.
  const name = `${newId('state')}.tfstate`
  return ctx.links.sign({ method: 'GET', kind: KIND, id }, ctx.now(), READ_SECONDS, name)
}

/** Whether the file of this name is still of use; for the sweep of files. */
export async function isWanted(ctx: Ctx, name: string): Promise<boolean> {
  return (await store.find(ctx.db, name)) !== undefined
}

function keyOf(applyId: string): string {
  return `${KIND}/${applyId}`
}
