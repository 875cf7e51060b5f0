import { readdir, readFile } from 'node:fs/promises'

export const KINDS = ['added', 'changed', 'deprecated', 'removed', 'fixed'] as const

/** An entry of the API's change history: one file of docs/changes. */
export interface Change {
  /** The name of its file, without the ending. */
  slug: string
  /** YYYY-MM-DD. */
  date: string
  title: string
  kind: (typeof KINDS)[number]
  /** Whether clients that worked before may have to change. */
  breaking: boolean
  /** The SHA-256 of docs/openapi.json after the change, hexadecimal. */
  openapi: string
  /** In Markdown. */
  body: string
}

const DIRECTORY = new URL('../../../docs/changes/', import.meta.url)

/** Every change of the API, newest first. */
export async function listChanges(directory: URL = DIRECTORY): Promise<Change[]> {
  const files = (await readdir(directory)).filter((name) => name !== 'README.md')
  const changes = await Promise.all(
    files.map(async (name) => parseChange(name, await readFile(new URL(name, directory), 'utf8'))),
  )
  return changes.sort((a, b) => (a.slug < b.slug ? 1 : -1))
}

/** Reads an entry; throws, with the name of the file, when it is not as docs/changes/README.md says. */
export function parseChange(file: string, text: string): Change {
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? []
  const fields = new Map(head.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  const { slug, date = '' } = /^(?<slug>(?<date>\d{4}-\d\d-\d\d)-[a-z0-9-]+)\.md$/.exec(file)?.groups ?? {}
  const take = (name: string, allowed: RegExp) => {
    const value = fields.get(name) ?? ''
    if (!allowed.test(value)) throw new Error(`docs/changes/${file}: ${name} is missing or wrong`)
    return value
  }
  if (!slug || Number.isNaN(Date.parse(date))) {
    throw new Error(`docs/changes/${file}: its name is not YYYY-MM-DD-what-changed.md`)
  }
  if (body.trim() === '') throw new Error(`docs/changes/${file}: it says nothing`)
  return {
    slug,
    date,
    title: take('title', /\S/),
    kind: take('kind', new RegExp(`^(${KINDS.join('|')})$`)) as Change['kind'],
    breaking: take('breaking', /^(true|false)$/) === 'true',
    openapi: take('openapi', /^[0-9a-f]{64}$/),
    body: body.trim(),
  }
}
