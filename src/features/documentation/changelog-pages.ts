import { createHash } from 'node:crypto'
import { Html, html } from '../../http/html.ts'
import { prose } from '../../http/prose.ts'
import type { Change } from './changes.ts'

export const ATOM = '/docs/changelog.atom'

/** The history for people. */
export function changelogPage(changes: readonly Change[]): Html {
  return html`<p>What changed in the API, newest first. Also as <a href="${ATOM}">Atom</a> and
<a href="/docs/changelog.json">JSON</a>; the API itself is <a href="/docs">described here</a>.</p>
${changes.map(
  (change) => html`<article id="${change.slug}">
<h2>${change.title}</h2>
<p><time datetime="${change.date}">${change.date}</time> · ${change.kind}${change.breaking ? html` · <strong>breaking</strong>` : ''}</p>
${prose(change.body)}
</article>
`,
)}`
}

/** The history for programs. */
export function changelogJson(changes: readonly Change[], baseUrl: string) {
  return {
    changes: changes.map(({ slug, date, title, kind, breaking, openapi, body }) => ({
      id: slug,
      date,
      title,
      kind,
      breaking,
      body,
      'openapi-sha256': openapi,
      url: addressOf(slug, baseUrl),
    })),
  }
}

/** The history for feed readers (RFC 4287). An entry's id depends on its name only, not on the server. */
export function changelogAtom(changes: readonly Change[], baseUrl: string): Html {
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${baseUrl}/">
<id>${baseUrl}/docs/changelog</id>
<title>Changes of the Plinth API</title>
<updated>${momentOf(changes[0]?.date ?? '1970-01-01')}</updated>
<author><name>Plinth</name></author>
<link rel="self" type="application/atom+xml" href="${baseUrl}${ATOM}"/>
<link rel="alternate" type="text/html" href="${baseUrl}/docs/changelog"/>
${changes.map(
  (change) => html`<entry>
<id>${idOf(change.slug)}</id>
<title>${change.title}</title>
<updated>${momentOf(change.date)}</updated>
<link rel="alternate" type="text/html" href="${addressOf(change.slug, baseUrl)}"/>
<category term="${change.kind}"/>${change.breaking ? new Html('<category term="breaking"/>') : ''}
<content type="html">${String(prose(change.body))}</content>
</entry>
`,
)}</feed>
`
}

function addressOf(slug: string, baseUrl: string): string {
  return `${baseUrl}/docs/changelog#${slug}`
}

function momentOf(date: string): string {
  return `${date}T00:00:00Z`
}

/** A UUID of version 8 (RFC 9562), from a digest of the name. */
function idOf(slug: string): string {
  const hex = createHash('sha256').update(slug).digest('hex')
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
