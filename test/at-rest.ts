import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Row, readRows, TABLES } from '../src/db/rows.ts'
import { readSnapshot } from '../src/db/snapshot.ts'
import type { TestServer } from './harness.ts'

/** Where a text can be read without any key: files of the data directory, and columns. */
export async function findAtRest(server: TestServer, text: string): Promise<string[]> {
  const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
  const columns: string[] = []
  await eachRow(server, (table, row) => {
    for (const [column, value] of Object.entries(row))
      if (String(value).includes(text)) columns.push(`${table}.${column}`)
  })
  return [...files, ...columns]
}

/** Visits every row of the database. */
export function eachRow(server: TestServer, visit: (table: string, row: Row) => void): Promise<void> {
  return readSnapshot(server.config.database, async (db) => {
    for (const table of TABLES) {
      for await (const rows of readRows(db, table)) for (const row of rows) visit(table, row)
    }
  })
}
