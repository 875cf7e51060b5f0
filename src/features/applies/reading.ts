import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import type { Apply } from './store.ts'
import * as store from './store.ts'

/** The apply, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'runs:read'): Promise<Apply> {
  const apply = await store.find(ctx.db, id)
  if (!apply) throw notFound()
  await authorize(ctx, permission, apply.organizationId)
  return apply
}
