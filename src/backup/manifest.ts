import { readFileSync } from 'node:fs'
import { MIGRATION_NAMES } from '../db/migrate.ts'
import { BackupError } from './archive.ts'

/** The first file of a backup: what it is, and who can restore it. */
export interface Manifest {
  /** The version of Plinth that wrote it. */
  version: string
  createdAt: string
  /** The shape of the rows, on any database. */
  migrations: string[]
}

export const MANIFEST = 'manifest.json'

/** The name of a file with rows; the files of a table are numbered from 1. */
export const rowsFile = (table: string, number: number) => `rows/${table}/${number}.jsonl`

export const ROWS_FILE = /^rows\/(\w+)\/\d+\.jsonl$/

export const BLOBS = 'blobs/'

export const SECRET_KEY = 'secret-key'

export function describeBackup(createdAt: string): Manifest {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return { version, createdAt, migrations: [...MIGRATION_NAMES] }
}

/** Refuses a backup whose rows have another shape than those of this Plinth. */
export function checkManifest(text: string): void {
  const { version, migrations } = JSON.parse(text) as Manifest
  if (migrations.join() !== MIGRATION_NAMES.join())
    throw new BackupError(
      `it is of Plinth ${version}, whose tables are different; restore it with that version, then upgrade`,
    )
}
