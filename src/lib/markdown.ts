import type { MarkdownIt, Token } from 'markdown-it'
import type { Attributes, IOptions } from 'sanitize-html'

// Markdown that others wrote, for pages of ours: nothing of it may run, load anything, or pass for a part of the page.
// The libraries are loaded with the first text.

export interface MarkdownOptions {
  /** Where an address without a host leads to; undefined for nowhere, so that only the text of the link remains. */
  link?: (path: string) => string | undefined
  /** How many levels headings lie below those that the text says, where it is a part of a page. */
  headingsBelow?: number
}

/** What a text has for those who search it. */
export interface MarkdownText {
  headings: string[]
  /** All that it says, headings included, without marks. */
  text: string
}

/** Before every id, so that none is one of the page's. */
const ID_PREFIX = 'doc-'

/** `-> note`, `~> warning` and `!> danger`, as documentation of providers has them. */
const CALLOUT = /^([-~!])> */
const CALLOUTS: Record<string, string> = { '-': 'note', '~': 'warning', '!': 'danger' }

const TAGS =
  'h1 h2 h3 h4 h5 h6 p br hr a b strong i em s del ins sub sup kbd code pre blockquote ul ol li dl dt dd ' +
  'table thead tbody tr th td details summary'

/** What these hold is no text to read. */
const NOT_TEXT =
  'script style textarea option noscript iframe noembed noframes object svg math template title xmp'

/**
 * The HTML of a text in Markdown, with tables and raw HTML as GitHub takes them. Only tags that make text readable are
 * left, without style, and of addresses only those of the web and of mail. Images become the text that stands for them:
 * loading one would tell others who reads.
 */
export async function renderMarkdown(text: string, options: MarkdownOptions = {}): Promise<string> {
  const { markdown, sanitize } = await load()
  const env = {}
  const tokens = markdown.parse(text, env)
  nameHeadings(tokens, options.headingsBelow ?? 0)
  markCallouts(tokens)
  return sanitize(markdown.renderer.render(tokens, markdown.options, env), rulesOf(options))
}

/** What a text in Markdown says, for a search. */
export async function readMarkdown(text: string): Promise<MarkdownText> {
  const { markdown, sanitize } = await load()
  const tokens = markdown.parse(text, {})
  const textOf = (token: Token) =>
    token.type === 'html_block' ? sanitize(token.content, TEXT_ONLY).trim() : wordsOf(token)
  const headings = tokens.filter((_, index) => tokens[index - 1]?.type === 'heading_open').map(textOf)
  const parts = tokens.map(textOf).filter((part) => part !== '')
  return { headings, text: parts.join('\n') }
}

interface Libraries {
  markdown: MarkdownIt
  sanitize: (html: string, options: IOptions) => string
}

let libraries: Promise<Libraries> | undefined

function load(): Promise<Libraries> {
  libraries ??= Promise.all([import('markdown-it'), import('sanitize-html')]).then(
    ([{ default: Markdown }, { default: sanitize }]) => {
      const markdown = new Markdown({ html: true, linkify: true })
      // What is no address for people who read it is none here.
      markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
      markdown.renderer.rules['image'] = (tokens, index) =>
        markdown.utils.escapeHtml(tokens[index]?.content ?? '')
      return { markdown, sanitize }
    },
  )
  return libraries
}

/** Gives each heading the id by which the text refers to it: its words, as GitHub makes them one. */
function nameHeadings(tokens: readonly Token[], below: number): void {
  const taken = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open' && token.type !== 'heading_close') continue
    token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + below)}`
    if (token.type === 'heading_close') continue
    const name = slugOf(wordsOf(tokens[index + 1] as Token))
    const count = taken.get(name) ?? 0
    taken.set(name, count + 1)
    token.attrSet('id', count === 0 ? name : `${name}-${count}`)
  }
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function markCallouts(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const first = tokens[index + 1]?.children?.[0]
    if (token.type !== 'paragraph_open' || first?.type !== 'text') continue
    const [mark, kind = ''] = CALLOUT.exec(first.content) ?? []
    if (mark === undefined) continue
    first.content = first.content.slice(mark.length)
    token.attrSet('class', CALLOUTS[kind] ?? '')
  }
}

/** What a block of Markdown says by itself, without what marks it up. */
function wordsOf({ content, children }: Token): string {
  return (children ? children.map(wordOf).join('') : content).trim()
}

function wordOf({ type, content }: Token): string {
  if (type === 'softbreak' || type === 'hardbreak') return ' '
  return type === 'html_inline' ? '' : content
}

const TEXT_ONLY: IOptions = {
  allowedTags: [],
  nonTextTags: NOT_TEXT.split(' '),
  textFilter: (text) => `${text} `,
}

function rulesOf({ link }: MarkdownOptions): IOptions {
  return {
    allowedTags: TAGS.split(' '),
    nonTextTags: NOT_TEXT.split(' '),
    allowedAttributes: {
      '*': ['id'],
      a: ['href', 'rel'],
      code: [{ name: 'class', values: [] }],
      ol: ['start'],
      p: ['class'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
    },
    allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/], p: Object.values(CALLOUTS) },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    nestingLimit: 100,
    parseStyleAttributes: false,
    transformTags: {
      a: (tagName, { name = '', id = name, href }) => ({
        tagName,
        attribs: { ...(id && { id }), ...(href !== undefined && linkTo(href, link)) },
      }),
      '*': (tagName, { id, ...attribs }) => ({
        tagName,
        attribs: { ...attribs, ...(id && /^[^\s"'<>`]{1,200}$/.test(id) && { id: ID_PREFIX + id }) },
      }),
    },
  }
}

/** Nobody who is linked to hears from where, or is recommended by us. */
function linkTo(href: string, link: MarkdownOptions['link']): Attributes {
  if (/^(https?:\/\/|mailto:)/i.test(href)) return { href, rel: 'nofollow noopener noreferrer' }
  const [path = '', fragment] = href.split('#', 2)
  const place = fragment ? `#${ID_PREFIX}${fragment}` : ''
  if (path === '') return place ? { href: place } : {}
  const address = link?.(path)
  return address === undefined ? {} : { href: address + place }
}
