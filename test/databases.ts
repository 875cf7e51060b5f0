import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Connection, connect, type DatabaseLocation } from '../src/db/connect.ts'
import { type HasDatabase, readingHandle } from '../src/db/transaction.ts'
import { createPostgresDatabase, DIALECTS, type Dialect } from './harness.ts'

/** A database of a test's own, without a server around it. */
export class TestDatabase implements HasDatabase {
  readonly dialect: Dialect
  readonly #directory = mkdtempSync(join(tmpdir(), 'plinth-database-'))
  location!: DatabaseLocation
  connection!: Connection
  db!: HasDatabase['db']

  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  async open(): Promise<void> {
    this.location =
      this.dialect === 'postgres'
        ? { kind: 'postgres', url: await createPostgresDatabase() }
        : { kind: 'sqlite', path: join(this.#directory, 'plinth.db') }
    this.connection = await connect(this.location, () => {})
    this.db = readingHandle(this.connection)
  }

  async close(): Promise<void> {
    await this.connection.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Declares the same tests for each database, migrated and empty. */
export function onEachDatabase(name: string, declare: (database: TestDatabase) => void): void {
  describe.each(DIALECTS)(`${name} on %s`, (dialect) => {
    const database = new TestDatabase(dialect)
    beforeAll(() => database.open())
    afterAll(() => database.close())
    declare(database)
  })
}
