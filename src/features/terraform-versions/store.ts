import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { TerraformVersionTable } from './table.ts'

/** A version, and how many workspaces ask for exactly it. */
export interface TerraformVersion extends Selectable<TerraformVersionTable> {
  usage: number
}

export interface TerraformVersionFilter {
  version?: string | undefined
  /** Part of the version. */
  text?: string | undefined
}

function select(db: Db) {
  return db
    .selectFrom('terraformVersions')
    .selectAll()
    .select(
      sql<number>`(select count(*) from workspaces where workspaces.terraform_version = terraform_versions.version)`.as(
        'usage',
      ),
    )
}

/** One page, the highest version first. */
export function list(db: Db, { version, text }: TerraformVersionFilter, page: PageRequest) {
  let versions = select(db)
  if (version) versions = versions.where('version', '=', version)
  if (text) versions = versions.where((eb) => contains(eb, 'version', text))
  return paginate(versions.orderBy('rank', 'desc').orderBy('createdAt', 'desc').orderBy('id'), page)
}

/** Those that are not as versions are by default, the highest first. */
export function listSpecial(
  db: Db,
): Promise<Pick<TerraformVersion, 'version' | 'enabled' | 'beta' | 'archs'>[]> {
  return db
    .selectFrom('terraformVersions')
    .select(['version', 'enabled', 'beta', 'archs'])
    .where((eb) => eb.or([eb('enabled', '=', false), eb('beta', '=', true), eb('archs', '!=', '[]')]))
    .orderBy('rank', 'desc')
    .orderBy('id')
    .execute()
}

export function find(db: Db, id: string): Promise<TerraformVersion | undefined> {
  return select(db).where('id', '=', id).executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<TerraformVersionTable>): Promise<void> {
  await db.insertInto('terraformVersions').values(row).execute()
}

/** Adds those versions that are not there. */
export async function insertMissing(
  db: Db,
  rows: readonly Insertable<TerraformVersionTable>[],
): Promise<void> {
  await db
    .insertInto('terraformVersions')
    .values(rows)
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute()
}

export async function update(db: Db, id: string, changes: Updateable<TerraformVersionTable>): Promise<void> {
  await db.updateTable('terraformVersions').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('terraformVersions').where('id', '=', id))
}
