import type { Ctx } from '../../context.ts'
import { newId } from '../../lib/ids.ts'
import type { Organization } from '../organizations/service.ts'
import * as users from '../users/service.ts'
import type { OrganizationMembership } from './store.ts'
import * as store from './store.ts'

export type { OrganizationMembership } from './store.ts'

/** Makes the creator of a new organization its first member. */
export async function addFounder(
  tx: Ctx,
  organization: Organization,
  userId: string,
): Promise<OrganizationMembership> {
  const { email } = await users.get(tx, userId)
  return store.insert(tx.db, {
    id: newId('ou'),
    organizationId: organization.id,
    userId,
    email,
    status: 'active',
    createdAt: tx.now(),
  })
}
