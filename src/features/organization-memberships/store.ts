import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { OrganizationMembershipTable } from './table.ts'

export type OrganizationMembership = Selectable<OrganizationMembershipTable>

export function insert(
  db: Db,
  row: Insertable<OrganizationMembershipTable>,
): Promise<OrganizationMembership> {
  return db.insertInto('organizationMemberships').values(row).returningAll().executeTakeFirstOrThrow()
}
