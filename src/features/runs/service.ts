import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { emptyPage, type PageRequest } from '../../lib/pagination.ts'
import * as organizations from '../organizations/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { Run, RunFilter } from './store.ts'
import * as store from './store.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only, which is too much for a file.
export { confirm, discardSaved, onAction } from './actions.ts'
export { advance, advanceIfAllowed, onEvent } from './advance.ts'
export { beginWith, endWith, settleWith } from './configurations.ts'
export { create, createSystem } from './creation.ts'
export { carryOutBy, type Phase } from './executor.ts'
export { proceed, proceedAfter } from './queue.ts'
export { get } from './reading.ts'
export { isFinal, type RunEvent, type RunStatus } from './status.ts'
export type { Run, RunFilter } from './store.ts'

/** The run, for other parts of the server that have authorized what they do. */
export function find(ctx: Ctx, id: string): Promise<Run | undefined> {
  return store.find(ctx.db, id)
}

/** Those of the runs that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Run[]> {
  const runs = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(runs.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return runs.filter((_, index) => visible[index])
}

/** Runs of a workspace, the newest first. */
export async function listOfWorkspace(ctx: Ctx, id: string, filter: RunFilter, page: PageRequest) {
  const workspace = await workspaces.get(ctx, { id }, 'runs:read')
  return store.list(ctx.db, { ...filter, workspaceId: workspace.id }, page)
}

/** Runs of an organization, the newest first; none for those who may not see runs. */
export async function listOfOrganization(
  ctx: Ctx,
  organizationName: string,
  filter: RunFilter,
  page: PageRequest,
) {
  const { id: organizationId } = await organizations.getByName(ctx, organizationName, 'organizations:browse')
  if (!(await can(ctx, 'runs:read', organizationId))) return emptyPage(page)
  return store.list(ctx.db, { ...filter, organizationId }, page)
}

/** What the run was given on its way, opened. */
export function variablesOf(ctx: Ctx, run: Run): { key: string; value: string }[] {
  return JSON.parse(ctx.vault.open(run.variables))
}

/** Notes what became known while the run was carried out. */
export function describe(
  tx: Ctx,
  id: string,
  changes: { terraformVersion?: string; hasChanges?: boolean },
): Promise<void> {
  return store.update(tx.db, id, changes)
}

/** Workspaces in which something waits that nobody may have told of what it waits for. */
export function listWaitingWorkspaces(ctx: Ctx): Promise<string[]> {
  return store.listWaitingWorkspaces(ctx.db)
}
