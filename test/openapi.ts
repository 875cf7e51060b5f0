import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../src/app.ts'
import type { Change } from '../src/features/documentation/changes.ts'
import { listChanges } from '../src/features/documentation/changes.ts'

const FILE = join(import.meta.dirname, '../docs/openapi.json')

/** docs/openapi.json as the routes of the program say it should be. */
export async function currentDocument(): Promise<string> {
  return `${JSON.stringify(await describeApi(), null, 2)}\n`
}

/** docs/openapi.json as it is. */
export function committedDocument(): string {
  return readFileSync(FILE, 'utf8')
}

/** What is wrong with a document and its change history, newest first; nothing when it has an entry. */
export function historyProblem(document: string, changes: readonly Change[]): string | undefined {
  const digest = createHash('sha256').update(document).digest('hex')
  const newest = changes.filter(({ date }) => date === changes[0]?.date)
  if (newest.some(({ openapi }) => openapi === digest)) return undefined
  return `docs/openapi.json changed, and docs/changes does not say how: see docs/changes/README.md.\nopenapi: ${digest}`
}

if (import.meta.main) {
  const document = await currentDocument()
  writeFileSync(FILE, document)
  process.stdout.write(
    `${historyProblem(document, await listChanges()) ?? 'docs/openapi.json is described'}\n`,
  )
}
