import type { StagedBytes } from '../../blobs/blob-store.ts'
import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { StateOutput } from '../../lib/state-file.ts'
import * as audit from '../audit-trail/service.ts'
import * as outputs from '../state-version-outputs/service.ts'
import * as resources from '../workspace-resources/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { ReceivedState } from './inspection.ts'
import type { StateVersion } from './store.ts'
import * as store from './store.ts'

/** Whose state it is: of the run that holds the workspace, or of the user or team that has locked it. */
export interface Maker {
  workspaceId: string
  /** The run that the state is of; it has to hold the workspace if `isRun`. */
  runId: string | null
  isRun: boolean
  userId: string | null
  teamId: string | null
}

/** What a state is said to be. */
export interface Announcement {
  serial: number
  lineage: string
  /** Hexadecimal. */
  md5: string
  /** Whether the serial and the lineage of the current state do not matter. */
  force: boolean
}

type Callback = (tx: Ctx, made: { workspaceId: string; runId: string | null }) => Promise<void>

const callbacks = new Set<Callback>()

/** Adds what happens, in the same transaction, when a workspace gets a new state. */
export function onFinalized(callback: Callback): void {
  callbacks.add(callback)
}

/**
 * Holds the workspace still until the transaction ends, and makes sure that it is its holder who brings a state, and
 * that the state follows the current one. Throws 409 with what is different. Returns the workspace and its current
 * state version. `mayGoBack` allows a serial that is not above the current one, as long as nothing was saved under
 * the same lock.
 */
export async function admit(tx: Ctx, maker: Maker, announced: Announcement, mayGoBack: boolean) {
  const workspace = await workspaces.hold(tx, maker.workspaceId)
  if (!workspace) throw notFound()
  const holds = maker.isRun
    ? workspace.lockedByRunId === maker.runId
    : workspace.lockedByRunId === null &&
      workspace.lockedByUserId === maker.userId &&
      workspace.lockedByTeamId === maker.teamId
  if (!workspace.locked || !holds)
    throw new AppError(
      'conflict',
      `${await workspaces.describeLock(tx, workspace)} A state is saved by who has locked it.`,
    )
  const current = await store.findCurrent(tx.db, maker.workspaceId)
  if (current && !announced.force) refuseStranger(current, announced, mayGoBack)
  return { workspace, current }
}

function refuseStranger(
  current: StateVersion,
  { serial, lineage, md5 }: Announcement,
  mayGoBack: boolean,
): void {
  if (current.lineage !== '' && lineage !== current.lineage)
    throw new AppError(
      'conflict',
      `The lineage of the state is ${lineage || 'not known'}, and that of the current state ${current.lineage}.`,
    )
  if (serial > current.serial || (serial === current.serial && md5 === current.md5)) return
  if (mayGoBack && current.settled) return
  if (serial === current.serial)
    throw new AppError(
      'conflict',
      `The current state has the serial ${serial} too, but another content: its MD5 is ${current.md5}, and that of this one ${md5}.`,
    )
  throw new AppError(
    'conflict',
    `The serial of the state is ${serial}, which is not above that of the current state, ${current.serial}.`,
  )
}

/** The current version, if it is this very state of this very maker: whoever says something twice means it once. */
export function findRepeated(
  current: StateVersion | undefined,
  maker: Maker,
  { serial, lineage, md5, force }: Announcement,
): StateVersion | undefined {
  if (!current || force || current.serial !== serial || current.md5 !== md5 || current.lineage !== lineage)
    return undefined
  const sameMaker =
    current.runId === maker.runId &&
    current.createdByUserId === maker.userId &&
    current.createdByTeamId === maker.teamId
  return sameMaker ? current : undefined
}

/** Writes down that a state will come; returns its id. */
export async function announce(
  tx: Ctx,
  maker: Maker,
  { serial, lineage, md5, force }: Announcement,
  details: { announcedOutputs?: readonly StateOutput[] | undefined; rollbackOfId?: string } = {},
): Promise<string> {
  const id = newId('sv')
  const { announcedOutputs: known, rollbackOfId = null } = details
  await store.insert(tx.db, {
    id,
    workspaceId: maker.workspaceId,
    status: 'pending',
    sequence: null,
    serial,
    lineage,
    md5,
    size: 0,
    force,
    intermediate: false,
    stateVersion: null,
    terraformVersion: null,
    resourcesProcessed: false,
    announcedOutputs: known ? tx.vault.seal(JSON.stringify(known)) : null,
    summary: null,
    digests: null,
    settled: maker.isRun,
    blobKey: null,
    jsonBlobKey: null,
    runId: maker.runId,
    createdByUserId: maker.userId,
    createdByTeamId: maker.teamId,
    rollbackOfId,
    createdAt: tx.now(),
  })
  return id
}

/** Makes a pending version the current one of its workspace, which is held and follows `current`. */
export async function finalize(
  tx: Ctx,
  id: string,
  { workspace, current }: Awaited<ReturnType<typeof admit>>,
  { raw, file, json }: ReceivedState,
): Promise<StateVersion> {
  const version = await reread(tx, id)
  const { workspaceId, runId, announcedOutputs } = version
  const before = current?.digests ? JSON.parse(tx.vault.open(current.digests)) : {}
  if (current)
    await store.update(tx.db, current.id, { digests: null, ...(!current.settled && { intermediate: true }) })
  const blobKey = `state-versions/${id}/state`
  await keep(tx.db, blobKey, raw, tx.now(), workspaceId)
  await store.update(tx.db, id, {
    status: 'finalized',
    sequence: (current?.sequence ?? 0) + 1,
    size: file.size,
    stateVersion: file.formatVersion ?? null,
    terraformVersion: file.terraformVersion ?? null,
    resourcesProcessed: true,
    announcedOutputs: null,
    summary: JSON.stringify(file.summary),
    digests: tx.vault.seal(
      JSON.stringify(Object.fromEntries(file.objects.map(({ address, digest }) => [address, digest]))),
    ),
    blobKey,
  })
  if (json) await keepJson(tx, version, json)
  const known: StateOutput[] = announcedOutputs ? JSON.parse(tx.vault.open(announcedOutputs)) : file.outputs
  await outputs.write(tx, id, known)
  await resources.replace(tx, version, file.objects, before)
  await store.discardPending(tx.db, workspaceId)
  const { organizationId } = workspace
  const meta = { workspace: workspaceId, serial: String(version.serial), ...(runId && { run: runId }) }
  const resource = { resourceType: 'state_version', resourceId: id }
  await audit.record(tx, { ...resource, action: 'create', organizationId, meta })
  for (const callback of callbacks) await callback(tx, { workspaceId, runId })
  return reread(tx, id)
}

/** Keeps the form for programs of a state. */
export async function keepJson(
  tx: Ctx,
  { id, workspaceId }: Pick<StateVersion, 'id' | 'workspaceId'>,
  json: StagedBytes,
): Promise<void> {
  const jsonBlobKey = `state-versions/${id}/json`
  await keep(tx.db, jsonBlobKey, json, tx.now(), workspaceId)
  await store.update(tx.db, id, { jsonBlobKey })
}

/** The version as the transaction has left it; 404 when it is gone. */
export async function reread(tx: Ctx, id: string): Promise<StateVersion> {
  const version = await store.find(tx.db, id)
  if (!version) throw notFound()
  return version
}

/** Saves a state that was received whole; says twice the same, and there is one version. */
export async function save(
  tx: Ctx,
  maker: Maker,
  announced: Announcement,
  received: ReceivedState,
  details: {
    announcedOutputs?: readonly StateOutput[] | undefined
    mayGoBack?: boolean
    rollbackOfId?: string
  } = {},
): Promise<StateVersion> {
  const { mayGoBack = false, ...known } = details
  const admitted = await admit(tx, maker, announced, mayGoBack)
  const repeated = findRepeated(admitted.current, maker, announced)
  if (repeated) return repeated
  return finalize(tx, await announce(tx, maker, announced, known), admitted, received)
}
