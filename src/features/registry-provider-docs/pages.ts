import { Html, html } from '../../http/html.ts'
import type { Page } from '../../http/pages.ts'
import { DOC_CATEGORIES, type DocCategory } from '../../lib/provider-doc-files.ts'
import type { Browsed, ListedPage } from './service.ts'

const HEADINGS: Record<DocCategory, string> = {
  overview: 'Overview',
  guides: 'Guides',
  functions: 'Functions',
  resources: 'Resources',
  'ephemeral-resources': 'Ephemeral resources',
  'list-resources': 'List resources',
  actions: 'Actions',
  'data-sources': 'Data sources',
}

/** The start of the documentation of a version, and each of its pages: what it says, then what else there is. */
export function docPage(browsed: Browsed, address: (page: ListedPage) => string, home: string): Page {
  const { version, shown } = browsed
  const called = `${version.provider.name} ${version.version}`
  return {
    title: shown ? `${nameOf(shown)} – ${called}` : called,
    wide: true,
    body: html`<p><a href="${home}">Documentation of ${called}</a></p>
${searchForm(home, '')}
${
  shown &&
  html`<article>
${new Html(shown.html)}${shown.truncated ? html`<p role="note">The rest of this page was too long to be kept.</p>` : ''}
</article>`
}
${navigation(browsed, address)}`,
  }
}

/** What a search found. */
export function foundPage(
  { version }: Pick<Browsed, 'version'>,
  found: { q: string; items: readonly ListedPage[]; totalCount: number },
  address: (page: ListedPage) => string,
  home: string,
): Page {
  const called = `${version.provider.name} ${version.version}`
  const { q, items, totalCount } = found
  const pages = totalCount === 1 ? '1 page' : `${totalCount} pages`
  const shown = items.length < totalCount ? `The first ${items.length} of ${pages}` : pages
  return {
    title: `Search in ${called}`,
    wide: true,
    body: html`<p><a href="${home}">Documentation of ${called}</a></p>
${searchForm(home, q)}
<p role="status">${totalCount === 0 ? 'No page' : shown} with “${q}”.</p>
<ul>
${items.map(
  (
    page,
  ) => html`<li><a href="${address(page)}">${nameOf(page)}</a> (${HEADINGS[page.category]}) ${page.description ?? ''}</li>
`,
)}</ul>`,
  }
}

function searchForm(home: string, q: string): Html {
  return html`<form role="search" method="get" action="${home}">
<label for="q">Search the documentation</label>
<input id="q" name="q" type="search" maxlength="200" value="${q}">
<button>Search</button>
</form>`
}

function navigation({ pages, shown }: Browsed, address: (page: ListedPage) => string): Html {
  if (pages.length === 0) return html`<p>This version has no documentation.</p>`
  const byCategory = Map.groupBy(pages, ({ category }) => category)
  return html`<nav aria-label="Pages">
${DOC_CATEGORIES.map((category) => {
  const listed = byCategory.get(category) ?? []
  return listed.length === 0
    ? html``
    : html`<h2>${HEADINGS[category]}</h2>
<ul>
${listed.map(
  (page) =>
    html`<li><a href="${address(page)}"${page.id === shown?.id ? html` aria-current="page"` : ''}>${nameOf(page)}</a></li>
`,
)}</ul>
`
})}</nav>`
}

function nameOf({ category, title, slug }: Pick<ListedPage, 'category' | 'title' | 'slug'>): string {
  return category === 'overview' ? 'Overview' : category === 'guides' ? title : slug
}
