import type { Insertable, Selectable, Updateable } from 'kysely'
import { contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { WorkspaceResourceTable } from './table.ts'

export type WorkspaceResource = Selectable<WorkspaceResourceTable>

/** Rows of one statement. */
const CHUNK = 500

export interface Order {
  column: 'address' | 'name' | 'nameIndex' | 'provider' | 'providerType' | 'module' | 'updatedAt'
  descending: boolean
}

/** One page of what the workspace manages; `text` is a part of the address. */
export function list(
  db: Db,
  workspaceId: string,
  { text, order }: { text: string | undefined; order: Order },
  page: PageRequest,
) {
  let resources = db.selectFrom('workspaceResources').selectAll().where('workspaceId', '=', workspaceId)
  if (text) resources = resources.where((eb) => contains(eb, 'address', text))
  const ordered = resources.orderBy(order.column, order.descending ? 'desc' : 'asc').orderBy('address')
  return paginate(ordered, page)
}

/** The addresses of all that the workspace manages. */
export async function listAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workspaceResources')
    .select('address')
    .where('workspaceId', '=', workspaceId)
    .execute()
  return rows.map(({ address }) => address)
}

export async function insert(db: Db, rows: readonly Insertable<WorkspaceResourceTable>[]): Promise<void> {
  for (const some of inChunks(rows)) await db.insertInto('workspaceResources').values(some).execute()
}

export async function update(
  db: Db,
  workspaceId: string,
  address: string,
  changes: Updateable<WorkspaceResourceTable>,
): Promise<void> {
  await db
    .updateTable('workspaceResources')
    .set(changes)
    .where('workspaceId', '=', workspaceId)
    .where('address', '=', address)
    .execute()
}

export async function remove(db: Db, workspaceId: string, addresses: readonly string[]): Promise<void> {
  for (const some of inChunks(addresses)) {
    await db
      .deleteFrom('workspaceResources')
      .where('workspaceId', '=', workspaceId)
      .where('address', 'in', some)
      .execute()
  }
}

function* inChunks<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += CHUNK) yield all.slice(from, from + CHUNK)
}
