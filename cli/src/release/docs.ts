import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, posix, resolve, sep } from 'node:path'
import {
  DOC_DIRECTORIES,
  DocsError,
  MAX_ARCHIVE_BYTES,
  MAX_BYTES,
  MAX_PAGE_BYTES,
  MAX_PAGES,
  pageAt,
  readSource,
} from '../../../src/lib/provider-doc-files.ts'
import { CliError } from '../errors.ts'
import { type Entry, packArchive } from '../tar.ts'
import type { Finding, PackedDocs } from './release.ts'

export interface DocsOptions {
  /** The directory that it is in, or false for none; by default it is looked for beside the release. */
  docs?: string | false | undefined
}

/** A file that is a page. */
interface Source {
  /** In the archive. */
  path: string
  file: string
}

interface Listed {
  sources: Source[]
  findings: Finding[]
}

/** Where tools leave documentation, beside the release; the second is the layout before tfplugindocs. */
const PLACES = ['docs', 'website/docs']

const NONE = '--no-docs sends none.'

/**
 * Packs the documentation of the release in a directory, and checks it as the server will; undefined where there is none,
 * or where a finding is an error. Throws `CliError` for a directory that was asked for and cannot be read.
 */
export async function readDocs(
  release: string,
  { docs }: DocsOptions,
): Promise<{ docs: PackedDocs | undefined; findings: Finding[] }> {
  if (docs === false) return { docs: undefined, findings: [] }
  const empty: Finding[] = []
  for (const directory of docs === undefined ? PLACES.map((place) => join(release, '..', place)) : [docs]) {
    const listed = await listSources(directory).catch((error: NodeJS.ErrnoException) => {
      if (docs === undefined && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
      throw new CliError('usage', `the directory ${directory} cannot be read (${error.code})`, {
        advice: `Name the directory that holds the pages: --docs docs. ${NONE}`,
      })
    })
    if (listed && listed.sources.length > 0) return packDocs(directory, listed)
    if (listed) empty.push(emptyFinding(directory, docs !== undefined))
    if (listed && docs !== undefined) empty.push(...listed.findings)
  }
  return { docs: undefined, findings: empty }
}

function emptyFinding(directory: string, isAskedFor: boolean): Finding {
  return {
    severity: isAskedFor ? 'error' : 'warning',
    code: 'docs-empty',
    file: directory,
    message: 'no file in it is a page of documentation; none is sent',
    fix: `Pages are index.md, resources/NAME.md, data-sources/NAME.md and so on, as tfplugindocs makes them. ${NONE}`,
  }
}

/** The pages in a directory. Links are followed as long as they stay in it. */
async function listSources(directory: string): Promise<Listed> {
  const root = resolve(directory).endsWith(join(sep, 'website', 'docs')) ? 'website/docs' : 'docs'
  const inside = `${await realpath(directory)}${sep}`
  const sources: Source[] = []
  const findings: Finding[] = []
  const list = async (folder: string) => {
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      const name = posix.join(folder, entry.name)
      const file = join(directory, name)
      const kind = await kindOf(entry, file, inside)
      const path = `${root}/${name}`
      if (kind === 'file' && pageAt(path)) sources.push({ path, file })
      else if (kind === 'directory' && DOC_DIRECTORIES.has(name)) await list(name)
      else findings.push(...skipped(file, kind))
    }
  }
  await list('')
  const byName = (a: { file: string }, b: { file: string }) => (a.file < b.file ? -1 : 1)
  return { sources: sources.sort(byName), findings: findings.sort(byName) }
}

type Kind = 'file' | 'directory' | 'outside' | 'other'

async function kindOf(entry: Dirent, file: string, inside: string): Promise<Kind> {
  if (!entry.isSymbolicLink()) return typeOf(entry)
  const target = await realpath(file).catch(() => '')
  return target.startsWith(inside) ? typeOf(await stat(target)) : 'outside'
}

function typeOf(file: Pick<Dirent, 'isFile' | 'isDirectory'>): Kind {
  if (file.isDirectory()) return 'directory'
  return file.isFile() ? 'file' : 'other'
}

/** What is said of something that is no page; nothing of pictures and the like. */
function skipped(file: string, kind: Kind): Finding[] {
  const warn = (code: string, message: string, fix: string): Finding[] => [
    { severity: 'warning', code, file, message: `${message}; it is not sent`, fix },
  ]
  if (kind === 'outside') {
    return warn(
      'docs-link',
      'it is a link that leads out of the documentation',
      'Put what it leads to there.',
    )
  }
  if (kind === 'directory') {
    const known = [...DOC_DIRECTORIES.keys()].filter((name) => name.length > 1).join(', ')
    return warn('docs-folder-unknown', 'the registry knows no such folder', `It knows ${known}.`)
  }
  if (!/\.(md|markdown)$/.test(file)) return []
  const fix = 'Call it index.md, or put it into a folder such as guides, under a name of letters and digits.'
  return warn('docs-page-unknown', 'the registry knows no such page', fix)
}

async function packDocs(directory: string, { sources, findings }: Listed) {
  const report: Report = (code, file, message, fix, severity = 'error') => {
    findings.push({ severity, code, file, message, fix })
  }
  const refused = () => ({ docs: undefined, findings })
  const tooLarge = (message: string) =>
    report('docs-too-large', directory, message, `Leave out what nobody needs. ${NONE}`)
  if (sources.length > MAX_PAGES) {
    tooLarge(`it has ${sources.length} pages, and the registry takes ${MAX_PAGES}`)
    return refused()
  }
  const sizes = await Promise.all(sources.map(async ({ file }) => (await stat(file)).size))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total > MAX_BYTES) {
    tooLarge(`its pages have ${total} bytes, and the registry takes ${MAX_BYTES}`)
    return refused()
  }
  const entries = await readPages(sources, report)
  if (findings.some(({ severity }) => severity === 'error')) return refused()
  const bytes = await packArchive(entries)
  if (bytes.length > MAX_ARCHIVE_BYTES) {
    tooLarge(`it is packed to ${bytes.length} bytes, and the registry takes ${MAX_ARCHIVE_BYTES}`)
    return refused()
  }
  const pages = entries.map(({ name }) => name)
  return {
    docs: { directory, pages, bytes, sha256: createHash('sha256').update(bytes).digest('hex') },
    findings,
  }
}

type Report = (
  code: string,
  file: string,
  message: string,
  fix: string,
  severity?: Finding['severity'],
) => void

/** What goes into the archive, by its path there. */
async function readPages(sources: readonly Source[], report: Report): Promise<Entry[]> {
  const entries: Entry[] = []
  const seen = new Map<string, string>()
  for (const { path, file } of sources) {
    const content = await readFile(file)
    const { category, slug } = pageAt(path) ?? {}
    const other = seen.get(`${category}/${slug}`)
    if (other) report('docs-page-twice', file, `${other} is the same page`, 'Remove one of them.')
    seen.set(`${category}/${slug}`, file)
    if (content.length > MAX_PAGE_BYTES) {
      const fix = `Split it: people see the first ${MAX_PAGE_BYTES} bytes of it.`
      report('docs-page-long', file, `it has ${content.length} bytes`, fix, 'warning')
    }
    await readSource(path, content).catch((error: unknown) => {
      if (!(error instanceof DocsError)) throw error
      const fix = 'Write it in UTF-8, and its front matter as short YAML between two lines of ---.'
      report('docs-page-malformed', file, error.message.replace(path, 'it'), fix)
    })
    entries.push({ name: path, content })
  }
  return entries
}
