import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { readMarkdown, renderMarkdown } from './markdown.ts'
import {
  DOC_CATEGORIES,
  type DocCategory,
  DocsError,
  MAX_BYTES,
  MAX_PAGES,
  pageAt,
  readSource,
  splitFrontMatter,
} from './provider-doc-files.ts'
import { checkSlug, SlugError } from './slug.ts'

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

/** Real pages take some milliseconds. */
const MAX_PARSE_MS = 2_000

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
  const { content, truncated, body, attributes } = await readSource(path, bytes)
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
