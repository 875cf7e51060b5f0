import type { Insertable, Selectable } from 'kysely'
import { among, changesRows, contains, paginate, sameText } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RegistryProviderTable } from './table.ts'

/** A provider with its organization's name; `namespace` is that name for private ones. */
export type RegistryProvider = Omit<Selectable<RegistryProviderTable>, 'namespace'> & {
  organizationName: string
  namespace: string
}

export interface ProviderFilter {
  registryName: string | undefined
  /** Part of the name. */
  q: string | undefined
}

function providers(db: Db) {
  return db
    .selectFrom('registryProviders')
    .innerJoin('organizations', 'organizations.id', 'registryProviders.organizationId')
    .select((eb) => [
      'registryProviders.id',
      'registryProviders.organizationId',
      'registryProviders.registryName',
      'registryProviders.name',
      'registryProviders.createdAt',
      'registryProviders.updatedAt',
      'organizations.name as organizationName',
      eb.fn.coalesce('registryProviders.namespace', 'organizations.name').as('namespace'),
    ])
}

export function list(db: Db, organizationId: string, { registryName, q }: ProviderFilter, page: PageRequest) {
  let wanted = providers(db).where('registryProviders.organizationId', '=', organizationId)
  if (registryName === 'private' || registryName === 'public') {
    wanted = wanted.where('registryProviders.registryName', '=', registryName)
  }
  if (q) wanted = wanted.where((eb) => contains(eb, 'registryProviders.name', q))
  return paginate(wanted.orderBy('registryProviders.name').orderBy('registryProviders.id'), page)
}

export function listAll(db: Db, organizationId: string): Promise<RegistryProvider[]> {
  return providers(db).where('registryProviders.organizationId', '=', organizationId).execute()
}

export function find(db: Db, id: string): Promise<RegistryProvider | undefined> {
  return providers(db).where('registryProviders.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<RegistryProvider[]> {
  return providers(db)
    .where((eb) => among(eb, 'registryProviders.id', ids))
    .execute()
}

export function findPrivate(
  db: Db,
  organizationId: string,
  name: string,
): Promise<RegistryProvider | undefined> {
  return providers(db)
    .where('registryProviders.organizationId', '=', organizationId)
    .where('registryProviders.registryName', '=', 'private')
    .where((eb) => sameText(eb, 'registryProviders.name', name))
    .executeTakeFirst()
}

export function findPublic(
  db: Db,
  organizationId: string,
  namespace: string,
  name: string,
): Promise<RegistryProvider | undefined> {
  return providers(db)
    .where('registryProviders.organizationId', '=', organizationId)
    .where('registryProviders.registryName', '=', 'public')
    .where((eb) => sameText(eb, 'registryProviders.namespace', namespace))
    .where((eb) => sameText(eb, 'registryProviders.name', name))
    .executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<RegistryProviderTable>): Promise<void> {
  await db.insertInto('registryProviders').values(row).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('registryProviders').where('id', '=', id))
}
