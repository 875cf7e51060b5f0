import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dialect, TestServer } from '../harness.ts'
import { PostgresCluster } from '../postgres-cluster.ts'

/** A server whose database goes away when the test says so, and comes back. */
export interface Outage {
  server: TestServer
  begin: () => Promise<void>
  end: () => Promise<void>
  close: () => Promise<void>
}

export function openWithOutage(dialect: Dialect, settings: Record<string, string>): Promise<Outage> {
  return dialect === 'postgres' ? openOnPostgres(settings) : openOnSqlite(settings)
}

async function openOnPostgres(settings: Record<string, string>): Promise<Outage> {
  const cluster = await PostgresCluster.create()
  const server = new TestServer('postgres', { ...settings, PLINTH_DATABASE_URL: cluster.url })
  await server.start()
  return {
    server,
    begin: () => cluster.stop('SIGQUIT'),
    end: () => cluster.start(),
    close: async () => {
      await server.stop()
      await cluster.remove()
    },
  }
}

/** The file cannot go away, but another process can keep its lock. */
async function openOnSqlite(settings: Record<string, string>): Promise<Outage> {
  const server = new TestServer('sqlite', settings)
  await server.start()
  const other = new DatabaseSync(join(server.dataDir, 'plinth.db'))
  return {
    server,
    begin: () => lock(other),
    end: async () => other.exec('rollback'),
    close: async () => {
      other.close()
      await server.stop()
    },
  }
}

/** Waits for the lock without holding up this process, in which the one that has it lives. */
async function lock(database: DatabaseSync): Promise<void> {
  for (;;) {
    try {
      return database.exec('begin immediate')
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) throw error
      await sleep(1)
    }
  }
}
