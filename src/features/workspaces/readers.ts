import { authorizeBy, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import type { Workspace } from './store.ts'
import * as store from './store.ts'

/** What the program of a run may do with workspaces that share their state with it. */
const SHARED: ReadonlySet<Permission> = new Set([
  'workspaces:read',
  'state-versions:read',
  'state-versions:read-outputs',
])

/**
 * Whether the subject has `permission` in the workspace. The program of a run reads its own workspace, and those that
 * share their state with all of the organization, with its project, or with its workspace.
 */
export async function permits(ctx: Ctx, workspace: Workspace, permission: Permission): Promise<boolean> {
  const { subject } = ctx
  if (subject?.kind !== 'run') return can(ctx, permission, workspace.organizationId)
  if (!SHARED.has(permission) || workspace.organizationId !== subject.organizationId) return false
  if (workspace.id === subject.workspaceId || workspace.globalRemoteState) return true
  return store.sharesStateWith(ctx.db, workspace, subject.workspaceId)
}

/** Ends the request with 404 unless the subject has `permission` in the workspace. */
export async function authorizeIn(ctx: Ctx, workspace: Workspace, permission: Permission): Promise<void> {
  authorizeBy(ctx, await permits(ctx, workspace, permission))
}
