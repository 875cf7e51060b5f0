import { expect, test } from 'vitest'
import { type Answer, expectStatus, onEachDialect, type TestServer } from '../../../test/harness.ts'
import { publish, put } from '../../../test/registry.ts'
import { makeSlug } from '../../../test/slugs.ts'
import { Visitor } from '../../../test/visitor.ts'

const PAGES = {
  'docs/index.md': '# Demo\n\nWelcome.\n',
  'docs/resources/thing.md':
    '---\ndescription: A "<b>thing</b>".\n---\n# Thing\n\n~> Careful.\n\n[start](../index.md)\n',
  'docs/guides/first steps.md': '---\npage_title: First <i>steps</i>\n---\n# One\n',
}

/** An organization with a documented provider, where the pages of that are, and a browser of its owner. */
async function documented(server: TestServer, pages: Record<string, string> = PAGES) {
  const organization = await server.organization()
  const { path } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
  const { links } = expectStatus(await organization.owner.get(`${path}/versions/1.0.0`), 200).body.data
  expectStatus(await put(links['docs-upload'], await makeSlug(pages)), 200)
  const visitor = new Visitor(server)
  await visitor.signInWithToken(organization.owner.token ?? '')
  const start = `/registry/providers/${organization.name}/demo/1.0.0/docs`
  return { organization, visitor, start, path }
}

const linksIn = ({ text }: Answer) => [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)
const headingsIn = ({ text }: Answer) =>
  [...text.matchAll(/<(h[1-6])[^>]*>([^<]+)/g)].map(([, tag, said]) => `${tag} ${said}`)

onEachDialect('pages of documentation', (server) => {
  test('are for people who are signed in: a start, and each page', async () => {
    const { visitor, start } = await documented(server)
    const home = expectStatus(await visitor.get(start), 200)
    expect(home.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(home.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+';/,
    )
    expect(headingsIn(home)).toEqual([
      'h1 Overview – demo 1.0.0',
      'h2 Demo',
      'h2 Overview',
      'h2 Guides',
      'h2 Resources',
    ])
    const guide = `${start}/guides/first%20steps`
    expect(linksIn(home)).toEqual([start, `${start}/overview/index`, guide, `${start}/resources/thing`])
    expect(home.text).toContain('First &#60;i&#62;steps&#60;/i&#62;')
    expect(home.text).toMatch(/<form role="search" method="get" action="[^"]+">\s*<label for="q">/)
    const page = expectStatus(await visitor.get(`${start}/resources/thing`), 200)
    expect(page.text).toContain('<article>\n<h2 id="doc-thing">Thing</h2>\n<p class="warning">Careful.</p>')
    expect(linksIn(page)).toContain(`${start}/overview/index`)
    expect(page.text).toContain(`<a href="${start}/resources/thing" aria-current="page">thing</a>`)
    for (const href of linksIn(page)) expect((await visitor.get(href ?? '')).status).toBe(200)
    expect((await visitor.get(start)).text).toBe(home.text)
    expect((await visitor.get(start.replace('1.0.0', 'latest'))).text).toBe(home.text)
  })

  test('are searched without a script', async () => {
    const { visitor, start } = await documented(server)
    const found = expectStatus(await visitor.get(`${start}?q=thing`), 200)
    expect(found.text).toContain('<p role="status">1 page with “thing”.</p>')
    expect(linksIn(found)).toEqual([start, `${start}/resources/thing`])
    expect(found.text).toContain('A &#34;&#60;b&#62;thing&#60;/b&#62;&#34;.')
    const hostile = expectStatus(await visitor.get(`${start}?q=${encodeURIComponent('"><script>x')}`), 200)
    expect(hostile.text).toContain('No page with “&#34;&#62;&#60;script&#62;x”.')
    expect(hostile.text).not.toContain('<script')
    expect((await visitor.get(`${start}?q=%20`)).text).toContain('<article>')
  })

  test('say when there is no documentation, and of what was cut', async () => {
    const { visitor, start, organization, path } = await documented(server, {
      'docs/guides/long.md': 'word '.repeat(120_000),
    })
    const long = expectStatus(await visitor.get(`${start}/guides/long`), 200)
    expect(long.text).toContain('<p role="note">The rest of this page was too long to be kept.</p>')
    expect((await visitor.get(start)).text).not.toContain('<article>')
    await publish(organization, 'demo', '2.0.0', { path, platforms: ['linux_amd64'] })
    const other = expectStatus(await visitor.get(start.replace('1.0.0', '2.0.0')), 200)
    expect(other.text).toContain('This version has no documentation.')
  })

  test('send whoever is not signed in to sign in, and exist for members only', async () => {
    const { organization, visitor, start } = await documented(server)
    const stranger = new Visitor(server)
    for (const address of [start, `${start}/resources/thing`, `${start}?q=x`]) {
      const answer = await stranger.get(address)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `/sign-in?${new URLSearchParams({ to: address })}`,
      ])
    }
    await stranger.signInWithToken((await server.user()).token ?? '')
    for (const address of [
      start,
      `${start}/resources/thing`,
      `${start}?q=x`,
      start.replace('1.0.0', 'latest'),
    ]) {
      const answer = await stranger.get(address)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    }
    for (const wrong of ['/resources/none', '/nothing/thing', '/resources/Thing'])
      expect((await visitor.get(start + wrong)).status).toBe(404)
    expect((await visitor.get(`/registry/providers/${organization.name}/none/latest/docs`)).status).toBe(404)
  })
})
