import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'

/** The result of applying a run's plan. There are no runs yet, so there is none: 404. */
export function get(ctx: Ctx, _id: string): never {
  authorizeAnyone(ctx)
  throw notFound()
}
