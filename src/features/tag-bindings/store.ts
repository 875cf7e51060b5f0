import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { TagBindingTable } from './table.ts'

export type TagBinding = Selectable<TagBindingTable>

/** What bindings can be on, by the name of its collection. */
export type OwnerKind = 'projects' | 'workspaces'

const OWNER_COLUMN = { projects: 'projectId', workspaces: 'workspaceId' } as const

/** The bindings of all these owners, each owner's in its order. */
export function list(db: Db, kind: OwnerKind, ownerIds: readonly string[]): Promise<TagBinding[]> {
  return db
    .selectFrom('tagBindings')
    .selectAll()
    .where(OWNER_COLUMN[kind], 'in', ownerIds)
    .orderBy('position')
    .orderBy('id')
    .execute()
}

/** Adds the binding, or gives the one its owner has with that key the new value and position. */
export function upsert(db: Db, kind: OwnerKind, row: Insertable<TagBindingTable>): Promise<TagBinding> {
  const { value, position, updatedAt } = row
  return db
    .insertInto('tagBindings')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns([OWNER_COLUMN[kind], 'key']).doUpdateSet({ value, position, updatedAt }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Removes the owner's bindings, those with one of `keys` excepted. */
export async function removeExcept(
  db: Db,
  kind: OwnerKind,
  ownerId: string,
  keys: readonly string[],
): Promise<void> {
  let doomed = db.deleteFrom('tagBindings').where(OWNER_COLUMN[kind], '=', ownerId)
  if (keys.length > 0) doomed = doomed.where('key', 'not in', keys)
  await doomed.execute()
}

/** Makes others wait who want to change the bindings of the same owner, until the transaction ends. */
export async function hold(db: Db, kind: OwnerKind, ownerId: string): Promise<void> {
  await db.selectFrom(kind).select('id').where('id', '=', ownerId).forUpdate().execute()
}
