import type { Insertable, Selectable, Updateable } from 'kysely'
import { contains, paginate, sameText } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RegistryModuleTable } from './table.ts'

/** A module with its organization's name; `namespace` is that name for private ones. */
export type RegistryModule = Omit<Selectable<RegistryModuleTable>, 'namespace'> & {
  organizationName: string
  namespace: string
}

/** What is known of each version where its module is shown. */
export interface VersionStatus {
  moduleId: string
  version: string
  status: string
  error: string | null
}

export interface ModuleFilter {
  registryName: string | undefined
  provider: string | undefined
  organizationName: string | undefined
  /** Part of the name, the namespace or the provider. */
  q: string | undefined
}

function modules(db: Db) {
  return db
    .selectFrom('registryModules as module')
    .innerJoin('organizations as organization', 'organization.id', 'module.organizationId')
    .select((eb) => [
      'module.id',
      'module.organizationId',
      'module.registryName',
      'module.name',
      'module.provider',
      'module.noCode',
      'module.createdAt',
      'module.updatedAt',
      'organization.name as organizationName',
      eb.fn.coalesce('module.namespace', 'organization.name').as('namespace'),
    ])
}

export function list(db: Db, organizationId: string, filter: ModuleFilter, page: PageRequest) {
  const { registryName, provider, organizationName, q } = filter
  let wanted = modules(db).where('module.organizationId', '=', organizationId)
  if (registryName === 'private' || registryName === 'public') {
    wanted = wanted.where('module.registryName', '=', registryName)
  }
  if (provider) wanted = wanted.where('module.provider', '=', provider)
  if (organizationName) {
    wanted = wanted.where((eb) => sameText(eb, 'organization.name', organizationName))
  }
  if (q) {
    wanted = wanted.where((eb) =>
      eb.or([
        contains(eb, 'module.name', q),
        contains(eb, 'module.provider', q),
        contains(eb, 'module.namespace', q),
        eb.and([eb('module.namespace', 'is', null), contains(eb, 'organization.name', q)]),
      ]),
    )
  }
  return paginate(wanted.orderBy('module.name').orderBy('module.provider').orderBy('module.id'), page)
}

export function listPrivate(db: Db, organizationId: string): Promise<RegistryModule[]> {
  return modules(db)
    .where('module.organizationId', '=', organizationId)
    .where('module.registryName', '=', 'private')
    .execute()
}

export function find(db: Db, id: string): Promise<RegistryModule | undefined> {
  return modules(db).where('module.id', '=', id).executeTakeFirst()
}

/** The modules of one name, for each of the systems that it is for, or for `provider` only. */
export function listNamed(
  db: Db,
  organizationId: string,
  registryName: 'private' | 'public',
  { namespace, name, provider }: { namespace: string; name: string; provider?: string | undefined },
): Promise<RegistryModule[]> {
  let named = modules(db)
    .where('module.organizationId', '=', organizationId)
    .where('module.registryName', '=', registryName)
    .where((eb) => sameText(eb, 'module.name', name))
  if (registryName === 'public') named = named.where((eb) => sameText(eb, 'module.namespace', namespace))
  if (provider !== undefined) named = named.where('module.provider', '=', provider)
  return named.orderBy('module.provider').execute()
}

export async function listVersionStatuses(db: Db, moduleIds: readonly string[]): Promise<VersionStatus[]> {
  if (moduleIds.length === 0) return []
  return db
    .selectFrom('registryModuleVersions')
    .select(['moduleId', 'version', 'status', 'error'])
    .where('moduleId', 'in', moduleIds)
    .execute()
}

export async function insert(db: Db, row: Insertable<RegistryModuleTable>): Promise<void> {
  await db.insertInto('registryModules').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<RegistryModuleTable>): Promise<void> {
  await db.updateTable('registryModules').set(changes).where('id', '=', id).execute()
}

/** Keeps everybody else from changing it until the transaction ends. */
export async function lock(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('registryModules')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('registryModules').where('id', '=', id).execute()
}
