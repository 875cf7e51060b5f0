import type { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { appliedMigrations, MIGRATION_NAMES } from './migrate.ts'
import type { Db } from './transaction.ts'

export type Table = keyof Database

/** A row as it is written down: the same on each database, so that one can be moved to the other. */
export type Row = Record<string, string | number | boolean | null>

/** A table that others refer to comes before them. */
const ORDERED = {
  users: true,
  organizations: true,
  organizationMemberships: true,
  teams: true,
  teamMemberships: true,
  auditEvents: true,
  agentPools: true,
  sshKeys: true,
  terraformVersions: true,
  projects: true,
  workspaces: true,
  agentPoolExclusions: true,
  agentPoolProjects: true,
  agentPoolWorkspaces: true,
  agents: true,
  tagBindings: true,
  tags: true,
  workspaceTags: true,
  reservedTagKeys: true,
  blobs: true,
  configurationVersions: true,
  runs: true,
  plans: true,
  applies: true,
  logs: true,
  logChunks: true,
  executions: true,
  comments: true,
  runEvents: true,
  runTriggers: true,
  stateVersions: true,
  stateVersionOutputs: true,
  workspaceResources: true,
  remoteStateConsumers: true,
  vars: true,
  varsets: true,
  varsetVars: true,
  varsetWorkspaces: true,
  varsetProjects: true,
  tokens: true,
  gpgKeys: true,
  registryLogKeys: true,
  registryLogHeads: true,
  registryLogRecords: true,
  registryProviders: true,
  registryProviderVersions: true,
  registryProviderPlatforms: true,
  registryProviderDocs: true,
  registryProviderDocPages: true,
  registryProviderDownloads: true,
  registryProviderTombstones: true,
  registryModules: true,
  registryModuleVersions: true,
  registryModuleDescriptions: true,
  registryModuleDownloads: true,
  registryModuleTombstones: true,
  registryQuotas: true,
  providerMirrors: true,
  mirroredProviders: true,
  mirroredVersions: true,
  mirroredPackages: true,
  jobs: true,
  passwords: true,
  signInAttempts: true,
  sessions: true,
  authorizationCodes: true,
} satisfies Record<Table, true>

/** Every table; one that others refer to comes before them. */
export const TABLES = Object.keys(ORDERED) as Table[]

/** Rows read at once. */
const CHUNK = 500

/** Rows of one INSERT; the widest table has 33 columns, and a database takes 32,766 values. */
const INSERTED = 100

/** Whether the tables are those of this Plinth. */
export async function isUpToDate(db: Db): Promise<boolean> {
  const applied = await appliedMigrations(db as unknown as Kysely<unknown>)
  return applied.join() === MIGRATION_NAMES.join()
}

/** All rows of a table, some at a time. */
export async function* readRows(db: Db, table: Table): AsyncGenerator<Row[]> {
  let rows: Row[] = []
  for await (const row of db.selectFrom(table).selectAll().stream(CHUNK)) {
    rows.push(row as unknown as Row)
    if (rows.length < CHUNK) continue
    yield rows
    rows = []
  }
  if (rows.length > 0) yield rows
}

export async function insertRows(db: Db, table: Table, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += INSERTED) {
    await db
      .insertInto(table)
      .values(rows.slice(from, from + INSERTED) as never)
      .execute()
  }
}

/** The tables that have rows. */
export async function listFilled(db: Db): Promise<Table[]> {
  const filled: Table[] = []
  for (const table of TABLES) {
    const row = await db
      .selectFrom(table)
      .select((eb) => eb.lit(1).as('one'))
      .limit(1)
      .executeTakeFirst()
    if (row) filled.push(table)
  }
  return filled
}
