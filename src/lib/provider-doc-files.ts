// Where the pages of a provider's documentation are, and what is a page: what servers and clients have to agree about.

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

/** Says, for the person who uploaded it, what is wrong with an archive of documentation. */
export class DocsError extends Error {
  override name = 'DocsError'
}

/** Bytes of an archive; those of the largest providers have five million. */
export const MAX_ARCHIVE_BYTES = 16 * 2 ** 20

/** Bytes of a page that are kept; the public registry keeps as many. */
export const MAX_PAGE_BYTES = 500_000

/** Bytes of all pages, which are held in memory while they are read; those of the largest providers have 25 MB. */
export const MAX_BYTES = 32 * 2 ** 20

export const MAX_PAGES = 5_000

const MAX_FRONT_MATTER = 16_384

/** Directories by the categories of their pages; the short names are those of the layout before `docs`. */
export const DOC_DIRECTORIES: ReadonlyMap<string, DocCategory> = new Map<string, DocCategory>([
  ['guides', 'guides'],
  ['functions', 'functions'],
  ['resources', 'resources'],
  ['r', 'resources'],
  ['ephemeral-resources', 'ephemeral-resources'],
  ['list-resources', 'list-resources'],
  ['actions', 'actions'],
  ['data-sources', 'data-sources'],
  ['d', 'data-sources'],
])

const PAGE =
  /^(docs|website\/docs)\/(?:([a-z-]+)\/)?([\p{L}\p{N}_][\p{L}\p{N}_. -]{0,127}?)(?:\.html)?\.(?:md|markdown)$/u

/** Which page a file is; undefined when it is none, such as a picture, or a page in another language. */
export function pageAt(path: string): { root: string; category: DocCategory; slug: string } | undefined {
  const [, root = '', directory, slug = ''] = PAGE.exec(path) ?? []
  if (root === '') return undefined
  if (directory === undefined) return slug === 'index' ? { root, category: 'overview', slug } : undefined
  const category = DOC_DIRECTORIES.get(directory)
  return category && { root, category, slug }
}

/** What a page says, with its front matter and without it. Throws `DocsError` for what is no page. */
export async function readSource(path: string, bytes: Uint8Array) {
  const { content, truncated } = readText(path, bytes)
  return { content, truncated, ...(await splitFrontMatter(path, content)) }
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
export async function splitFrontMatter(path: string, content: string) {
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
