import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as runs from '../runs/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { Direction, RunTrigger } from './store.ts'
import * as store from './store.ts'

export type { RunTrigger } from './store.ts'

/** Workspaces that may set off runs of one, as the public API limits them. */
const MAX_SOURCES = 20

/** The triggers of a workspace: those that make runs of it, or those that its runs set off. */
export async function list(ctx: Ctx, workspaceId: string, direction: string | undefined, page: PageRequest) {
  await workspaces.get(ctx, { id: workspaceId }, 'runs:read')
  if (!isDirection(direction))
    throw new AppError('badRequest', 'filter[run-trigger][type] must be inbound or outbound', {
      parameter: 'filter[run-trigger][type]',
    })
  return store.list(ctx.db, workspaceId, direction, page)
}

function isDirection(text: string | undefined): text is Direction {
  return text === 'inbound' || text === 'outbound'
}

/** The trigger, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'runs:read'): Promise<RunTrigger> {
  const trigger = await store.find(ctx.db, id)
  if (!trigger) throw notFound()
  await authorize(ctx, permission, trigger.organizationId)
  return trigger
}

/** Lets applied runs of another workspace of the organization make runs of this one. */
export function create(ctx: Ctx, workspaceId: string, sourceableId: string): Promise<RunTrigger> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await workspaces.get(tx, { id: workspaceId }, 'workspaces:manage')
    // Of two at once the second counts the first.
    await workspaces.hold(tx, workspaceId)
    if (sourceableId === workspaceId) throw refused('Sourceable must be another workspace')
    const source = await workspaces.reread(tx, sourceableId).catch(() => undefined)
    if (source?.organizationId !== workspace.organizationId)
      throw refused('Sourceable does not exist in the organization of the workspace')
    if ((await store.countInbound(tx.db, workspaceId)) >= MAX_SOURCES)
      throw refused(`Sourceable is one too many: a workspace has at most ${MAX_SOURCES}`)
    const id = newId('rt')
    await store.insert(tx.db, { id, workspaceId, sourceableId, createdAt: tx.now() }).catch(refuseTaken)
    const trigger = await get(tx, id)
    await recordChange(tx, 'create', trigger)
    return trigger
  })
}

export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const trigger = await get(tx, id, 'workspaces:manage')
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', trigger)
  })
}

const SOURCE = 'tfe-run-trigger'

/** Whether the runs of a workspace set off others. */
export async function hasOutbound(tx: Ctx, workspaceId: string): Promise<boolean> {
  return (await store.listOutbound(tx.db, workspaceId)).length > 0
}

/**
 * Makes the runs that an applied run sets off, one for each workspace, once however often it is called. A workspace
 * that can have none now, because it has no configuration for instance, is passed over.
 */
export async function setOff(ctx: Ctx, runId: string): Promise<void> {
  const run = await runs.find(ctx, runId)
  if (!run) return
  const { confirmedByUserId, createdByUserId, createdByTeamId } = run
  const maker = confirmedByUserId
    ? { userId: confirmedByUserId, teamId: null }
    : { userId: createdByUserId, teamId: createdByTeamId }
  const message = `Triggered by the run ${run.id} of the workspace ${run.workspaceName}`
  const origin = { source: SOURCE, triggerReason: 'run-trigger', rendersOutput: false, message }
  for (const { workspaceId } of await store.listOutbound(ctx.db, run.workspaceId)) {
    await inTransaction(ctx, async (tx) => {
      await workspaces.hold(tx, workspaceId)
      if (await store.hasRun(tx.db, workspaceId, SOURCE, message)) return
      const { autoApplyRunTrigger: autoApply } = await workspaces.reread(tx, workspaceId)
      await runs.createSystem(tx, { workspaceId, autoApply }, origin, maker)
    }).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error
      ctx.log.info({ err: error, runId, workspaceId }, 'a run was not set off')
    })
  }
}

function recordChange(tx: Ctx, action: string, trigger: RunTrigger): Promise<void> {
  const { id: resourceId, organizationId, workspaceName, sourceableName } = trigger
  const meta = { workspace: workspaceName, sourceable: sourceableName }
  return audit.record(tx, { action, organizationId, resourceType: 'run_trigger', resourceId, meta })
}

function refused(detail: string, cause?: unknown): AppError {
  return new AppError('invalid', detail, { pointer: '/data/relationships/sourceable/data/id', cause })
}

function refuseTaken(error: unknown): never {
  throw isUniqueViolation(error) ? refused('Sourceable has already been taken', error) : error
}
