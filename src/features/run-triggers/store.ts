import { type Insertable, type Selectable, sql } from 'kysely'
import { changesRows, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RunTriggerTable } from './table.ts'

/** A run trigger with the names of both of its workspaces. */
export interface RunTrigger extends Selectable<RunTriggerTable> {
  organizationId: string
  workspaceName: string
  sourceableName: string
}

/** `inbound` triggers make runs of the workspace, `outbound` ones are set off by its runs. */
export type Direction = 'inbound' | 'outbound'

function select(db: Db) {
  return db
    .selectFrom('runTriggers')
    .innerJoin('workspaces', 'workspaces.id', 'runTriggers.workspaceId')
    .innerJoin('workspaces as sourceables', 'sourceables.id', 'runTriggers.sourceableId')
    .selectAll('runTriggers')
    .select([
      'workspaces.organizationId',
      'workspaces.name as workspaceName',
      'sourceables.name as sourceableName',
    ])
}

const END = { inbound: 'runTriggers.workspaceId', outbound: 'runTriggers.sourceableId' } as const

/** One page, the oldest first. */
export function list(db: Db, workspaceId: string, direction: Direction, page: PageRequest) {
  const triggers = select(db).where(END[direction], '=', workspaceId)
  return paginate(triggers.orderBy('runTriggers.createdAt').orderBy('runTriggers.id'), page)
}

/** All that the runs of a workspace set off. */
export function listOutbound(db: Db, sourceableId: string): Promise<RunTrigger[]> {
  return select(db)
    .where('runTriggers.sourceableId', '=', sourceableId)
    .orderBy('runTriggers.createdAt')
    .orderBy('runTriggers.id')
    .execute()
}

export function find(db: Db, id: string): Promise<RunTrigger | undefined> {
  return select(db).where('runTriggers.id', '=', id).executeTakeFirst()
}

/** How many workspaces set off runs of this one. */
export async function countInbound(db: Db, workspaceId: string): Promise<number> {
  const { total } = await db
    .selectFrom('runTriggers')
    .select(sql<number>`count(*)`.as('total'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return total
}

/** Whether the workspace has a run with this source and message. */
export async function hasRun(db: Db, workspaceId: string, source: string, message: string): Promise<boolean> {
  const run = await db
    .selectFrom('runs')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('source', '=', source)
    .where('message', '=', message)
    .limit(1)
    .executeTakeFirst()
  return run !== undefined
}

export async function insert(db: Db, row: Insertable<RunTriggerTable>): Promise<void> {
  await db.insertInto('runTriggers').values(row).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('runTriggers').where('id', '=', id))
}
