import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** The run, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'runs:read'): Promise<Run> {
  const run = await store.find(ctx.db, id)
  if (!run) throw notFound()
  await authorize(ctx, permission, run.organizationId)
  return run
}
