import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { readMarkdown, renderMarkdown } from './markdown.ts'
import { checkSlug, SlugError } from './slug.ts'

/** What there can be pages about, in the order in which they are shown. */
export const DOC_CATEGORIES = [
  'overview',
  'guides',
  'functions',
  'resources',
  'ephemeral-resources',
  'list-resources',
  'actions',
  'data-sources',
] as const

export type DocCategory = (typeof DOC_CATEGORIES)[number]

/** One page of the documentation of a provider. */
export interface DocPage {
  category: DocCategory
  /** Its name within the category; that of a resource without the name of the provider. */
  slug: string
  /** Where it is in the archive. */
  path: string
  title: string
  /** What its front matter says, or null. */
  pageTitle: string | null
  subcategory: string | null
  description: string | null
  /** The whole file, front matter included, unless it was longer than is kept. */
  content: string
  truncated: boolean
  headings: string[]
  /** What it says, without marks. */
  text: string
}

/** Says, for the person who uploaded it, what is wrong with an archive of documentation. */
export class DocsError extends Error {
  override name = 'DocsError'
}

/** Bytes of a page that are kept; the public registry keeps as many. */
const MAX_PAGE_BYTES = 500_000

/** Bytes of all pages, which are held in memory while they are read; those of the largest providers have 25 MB. */
const MAX_BYTES = 32 * 2 ** 20

const MAX_PAGES = 5_000

/** Real pages take some milliseconds. */
const MAX_PARSE_MS = 2_000
const MAX_FRONT_MATTER = 16_384

/** Directories by the categories of their pages; the short names are those of the layout before `docs`. */
const DIRECTORIES: Record<string, DocCategory> = {
  guides: 'guides',
  functions: 'functions',
  resources: 'resources',
  r: 'resources',
  'ephemeral-resources': 'ephemeral-resources',
  'list-resources': 'list-resources',
  actions: 'actions',
  'data-sources': 'data-sources',
  d: 'data-sources',
}

const PAGE =
  /^(docs|website\/docs)\/(?:([a-z-]+)\/)?([\p{L}\p{N}_][\p{L}\p{N}_. -]{0,127}?)(?:\.html)?\.(?:md|markdown)$/u

/** Which page a file is; undefined when it is none, such as a picture, or a page in another language. */
export function pageAt(path: string): { root: string; category: DocCategory; slug: string } | undefined {
  const [, root = '', directory, slug = ''] = PAGE.exec(path) ?? []
  if (root === '') return undefined
  if (directory === undefined) return slug === 'index' ? { root, category: 'overview', slug } : undefined
  const category = DIRECTORIES[directory]
  return category && { root, category, slug }
}

/** The files of an archive that are pages, by their paths. */
export type DocFiles = ReadonlyMap<string, Uint8Array>

/**
 * Takes the pages out of an archive of documentation: a gzipped tar with `docs/index.md`, `docs/resources/NAME.md` and so
 * on, as tfplugindocs makes them, or with the older `website/docs/r/NAME.html.markdown`. `size` is that of the archive in
 * bytes. Throws `DocsError` for what nobody should unpack, and for more than anybody would write.
 */
export async function unpackDocs(archive: Readable, size: number): Promise<DocFiles> {
  const files = new Map<string, Buffer>()
  let total = 0
  try {
    await checkSlug(archive, size, async (path, bytes) => {
      if (!pageAt(path)) return
      if (files.size === MAX_PAGES) throw new SlugError(`it has more than ${MAX_PAGES} pages`)
      const chunks: Buffer[] = []
      for await (const chunk of bytes) {
        total += chunk.length
        if (total > MAX_BYTES) throw new SlugError(`its pages have more than ${MAX_BYTES} bytes`)
        chunks.push(chunk)
      }
      files.set(path, Buffer.concat(chunks))
    })
  } catch (error) {
    throw error instanceof SlugError ? new DocsError(error.message) : error
  }
  return files
}

/**
 * Reads pages, in the order in which they are shown. Throws `DocsError`, also when there are none, or when one takes longer
 * than `maxMs`: whoever asks for it later waits for it to be parsed again, and everybody else with them.
 */
export async function readDocs(files: DocFiles, maxMs = MAX_PARSE_MS): Promise<DocPage[]> {
  const root = [...files.keys()].some((path) => path.startsWith('docs/')) ? 'docs' : 'website/docs'
  const pages = new Map<string, DocPage>()
  for (const [path, bytes] of files) {
    const page = pageAt(path)
    if (page?.root !== root) continue
    const key = `${page.category}/${page.slug}`
    const other = pages.get(key)
    if (other) throw new DocsError(`${path} and ${other.path} are the same page`)
    const started = performance.now()
    pages.set(key, await readPage(path, page, bytes))
    if (performance.now() - started > maxMs) throw new DocsError(`${path} takes too long to read`)
  }
  if (pages.size === 0)
    throw new DocsError('it has no pages; pack them as docs/index.md, docs/resources/NAME.md and so on')
  return [...pages.values()].sort(inOrder)
}

export interface RenderOptions {
  /** Where there is another page. */
  address: (page: { category: DocCategory; slug: string }) => string
  headingsBelow?: number
}

/** The HTML of a page, whose links to other pages of the archive lead to their addresses. */
export async function renderDoc(
  { path, content }: Pick<DocPage, 'path' | 'content'>,
  { address, headingsBelow = 0 }: RenderOptions,
): Promise<string> {
  const { body } = await splitFrontMatter(path, content)
  const link = (href: string) => {
    const page = linkedPage(path, href)
    return page && address(page)
  }
  return renderMarkdown(body, { link, headingsBelow })
}

/** People write the name of the file, with and without its ending, or that of the page that is made of it. */
function linkedPage(from: string, href: string) {
  const [path = ''] = href.split('?', 1)
  if (path.startsWith('/')) return undefined
  const target = posix.join(posix.dirname(from), safelyDecoded(path)).replace(/\/$/, '')
  return pageAt(target) ?? pageAt(`${target.replace(/\.html$/, '')}.md`)
}

function safelyDecoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function inOrder(a: DocPage, b: DocPage): number {
  const rank = ({ category }: DocPage) => DOC_CATEGORIES.indexOf(category)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  return a.slug < b.slug ? -1 : 1
}

async function readPage(
  path: string,
  { category, slug }: { category: DocCategory; slug: string },
  bytes: Uint8Array,
): Promise<DocPage> {
  const { content, truncated } = readText(path, bytes)
  const { body, attributes } = await splitFrontMatter(path, content)
  const { headings, text } = await readMarkdown(body)
  const pageTitle = attributes['page_title'] ?? null
  return {
    category,
    slug,
    path,
    title: titleOf(category, slug, pageTitle ?? headings[0]),
    pageTitle,
    subcategory: attributes['subcategory'] ?? null,
    description: attributes['description'] ?? null,
    content,
    truncated,
    headings,
    text,
  }
}

/** As the public registry has it: only guides are called what they say. */
function titleOf(category: DocCategory, slug: string, said: string | undefined): string {
  if (category === 'overview') return 'overview'
  return category === 'guides' ? (said ?? slug) : slug
}

function readText(path: string, bytes: Uint8Array): { content: string; truncated: boolean } {
  const truncated = bytes.length > MAX_PAGE_BYTES
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    // A character that is cut at the end is left out.
    const content = decoder.decode(bytes.subarray(0, MAX_PAGE_BYTES), { stream: truncated })
    if (!content.includes('\0')) return { content, truncated }
  } catch {
    // The same as below.
  }
  throw new DocsError(`${path} is not text in UTF-8`)
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?\n)??---[ \t]*(?:\r?\n|$)/

/** A page without its front matter, and those properties of that which are texts and say something. */
async function splitFrontMatter(path: string, content: string) {
  const [whole = '', yaml = ''] = FRONT_MATTER.exec(content) ?? []
  if (yaml.length > MAX_FRONT_MATTER)
    throw new DocsError(`${path} has more than ${MAX_FRONT_MATTER} characters of front matter`)
  const attributes: Record<string, string> = {}
  for (const [name, value] of Object.entries(await parseYaml(path, yaml))) {
    const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : ''
    if (text !== '') attributes[name] = text
  }
  return { body: content.slice(whole.length), attributes }
}

/** Without aliases, by which a short text can stand for an endless one. */
async function parseYaml(path: string, yaml: string): Promise<object> {
  if (yaml === '') return {}
  const { parse } = await import('yaml')
  try {
    const value: unknown = parse(yaml, { schema: 'failsafe', maxAliasCount: 0, logLevel: 'error' })
    return typeof value === 'object' && value !== null ? value : {}
  } catch (error) {
    const [line] = (error as Error).message.split('\n')
    throw new DocsError(`the front matter of ${path} is not YAML: ${line}`)
  }
}
