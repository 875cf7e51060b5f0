import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import type { Varset } from './store.ts'
import * as store from './store.ts'

/** The set, if the subject may see it; 404 otherwise. */
export async function get(ctx: Ctx, id: string): Promise<Varset> {
  const set = await find(ctx, id)
  await authorize(ctx, 'variable-sets:read', set.organizationId)
  return set
}

/** The set, if the subject may change it: a project's sets are for those who manage projects. */
export async function getManaged(ctx: Ctx, id: string): Promise<Varset> {
  const set = await find(ctx, id)
  await authorize(ctx, managing(set.parentProjectId), set.organizationId)
  return set
}

/** What it takes to change a set that this project owns, or else the organization. */
export function managing(parentProjectId: string | null): Permission {
  return parentProjectId === null ? 'variable-sets:manage' : 'variable-sets:manage-of-projects'
}

async function find(ctx: Ctx, id: string): Promise<Varset> {
  const set = await store.find(ctx.db, id)
  if (!set) throw notFound()
  return set
}
