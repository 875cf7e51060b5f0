import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Config } from '../../src/config/config.ts'
import { sha256 } from '../registry.ts'

type Row = Record<string, string | number | null>

/** Looks at the data of a server behind its back: its database, its files, and whether they agree. */
export class Storage {
  readonly #config: Config
  /** Files that were found to hold what their row says, by key. */
  readonly #verified = new Set<string>()

  constructor(config: Config) {
    this.#config = config
  }

  /** What is wrong, in words; `pid` is the server's. */
  async listProblems(pid: number | undefined): Promise<string[]> {
    const problems: string[] = []
    for (const [statement, problem] of Object.entries(NONE_OF_THESE)) {
      for (const row of await this.query(statement)) problems.push(`${problem}: ${JSON.stringify(row)}`)
    }
    if (this.#config.database.kind === 'sqlite') problems.push(...this.#checkSqlite())
    return [...problems, ...(await this.#checkFiles()), ...this.#listLeftovers(pid)]
  }

  /** Files that no row knows; there may be some until they are swept. */
  async listOrphans(): Promise<string[]> {
    const rows = await this.query('select key from blobs')
    const keys = new Set(rows.map(({ key }) => key))
    return this.#files().filter((key) => !keys.has(key))
  }

  async query(statement: string): Promise<Row[]> {
    const { database } = this.#config
    if (database.kind === 'postgres') {
      const client = new pg.Client(database.url)
      await client.connect()
      try {
        return (await client.query(statement)).rows
      } finally {
        await client.end()
      }
    }
    const handle = new DatabaseSync(database.path, { timeout: 5_000 })
    try {
      return handle.prepare(statement).all() as Row[]
    } finally {
      handle.close()
    }
  }

  #checkSqlite(): string[] {
    const { database } = this.#config
    if (database.kind !== 'sqlite') return []
    const handle = new DatabaseSync(database.path, { readOnly: true, timeout: 5_000 })
    try {
      const integrity = handle.prepare('pragma integrity_check').all() as Row[]
      const foreignKeys = handle.prepare('pragma foreign_key_check').all() as Row[]
      return [...integrity.filter((row) => row['integrity_check'] !== 'ok'), ...foreignKeys].map((row) =>
        JSON.stringify(row),
      )
    } finally {
      handle.close()
    }
  }

  /** A row without its file would be the worst: something acknowledged that cannot be read. */
  async #checkFiles(): Promise<string[]> {
    const problems: string[] = []
    for (const { key, size, sha256: digest } of await this.query('select key, size, sha256 from blobs')) {
      const path = join(this.#config.blobs.path, String(key))
      if (!existsSync(path)) problems.push(`no file for ${key}`)
      else if (statSync(path).size !== Number(size)) problems.push(`${key} is cut off`)
      else if (!this.#verified.has(path) && sha256(readFileSync(path)) !== digest) {
        problems.push(`${key} is garbled`)
      }
      this.#verified.add(path)
    }
    return problems
  }

  /** What is not the data of anything: staged bytes of dead processes, drafts of secrets. */
  #listLeftovers(pid: number | undefined): string[] {
    const staging = join(this.#config.blobs.path, '.staging')
    const alive = [pid, process.pid].map((each) => `~${each}~`)
    const staged = readdirSync(staging).filter((name) => !alive.some((part) => name.includes(part)))
    const drafts = readdirSync(this.#config.dataDir).filter((name) => !EXPECTED.test(name))
    return [...staged, ...drafts].map((name) => `left behind: ${name}`)
  }

  #files(): string[] {
    const root = this.#config.blobs.path
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((key) => !key.startsWith('.staging'))
  }
}

const EXPECTED = /^(blobs|admin-token|secret-key|plinth\.db(-wal|-shm)?)$/

const REFERRED = `
  select shasums_blob as key from registry_provider_versions
  union select signature_blob from registry_provider_versions
  union select binary_blob from registry_provider_platforms`

/** Every change has its audit event, and every event its change. */
function auditQueries(table: string, type: string): Record<string, string> {
  const events = (action: string) =>
    `select resource_id from audit_events where resource_type = '${type}' and action = '${action}'`
  return {
    [`select id from ${table} where id not in (${events('create')})`]: `${type} without the event of its creation`,
    [`select id from ${table} where id in (${events('destroy')})`]: `${type} that an event says is destroyed`,
    [`select resource_id from audit_events where resource_type = '${type}' and action = 'create'
      and resource_id not in (select id from ${table}) and resource_id not in (${events('destroy')})`]: `event of a creation without its ${type}`,
  }
}

/** Statements that must find nothing, and what it means when they do. */
const NONE_OF_THESE: Record<string, string> = {
  ...auditQueries('reserved_tag_keys', 'reserved_tag_key'),
  ...auditQueries('workspaces', 'workspace'),
  ...auditQueries('registry_provider_versions', 'registry_provider_version'),
  [`select key from (${REFERRED}) as referred where key is not null and key not in (select key from blobs)`]:
    'a file that is referred to has no row',
  [`select key from blobs where key not in (select key from (${REFERRED}) as referred where key is not null)`]:
    'a file that nothing refers to has a row',
  [`select id from workspaces where (case when locked then 1 else 0 end) <> coalesce((
      select sum(case action when 'lock' then 1 when 'unlock' then -1 else 0 end) from audit_events
      where resource_type = 'workspace' and resource_id = workspaces.id), 0)`]:
    'a workspace whose lock differs from its events',
  "select name from jobs where schedule is not null and state <> 'waiting'": 'a scheduled job is not waiting',
}
