import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { committedDocument } from '../../../test/openapi.ts'
import { parseChange } from './changes.ts'

onEachDialect('the documentation', (server) => {
  const { nobody } = server

  test('is served for programs, as it is committed, also where the Go client looks', async () => {
    for (const address of ['/openapi.json', '/openapi/stable.json']) {
      const answer = await nobody.get(address)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.body).toEqual(JSON.parse(committedDocument()))
      expect(answer.body.info.version).toBe(answer.headers.get('tfp-api-version'))
    }
  })

  test('is not sent again to who has it', async () => {
    const { headers } = await nobody.get('/openapi/stable.json')
    const again = (conditions: Record<string, string>) =>
      nobody.send('GET', '/openapi/stable.json', undefined, conditions)
    const etag = headers.get('etag') ?? ''
    const since = headers.get('last-modified') ?? ''
    expect(await again({ 'if-none-match': etag })).toMatchObject({ status: 304, text: '' })
    expect(await again({ 'if-modified-since': since })).toMatchObject({ status: 304, text: '' })
    expect((await again({ 'if-none-match': '"other"', 'if-modified-since': since })).status).toBe(200)
    const before = new Date(Date.parse(since) - 1000).toUTCString()
    expect((await again({ 'if-modified-since': before })).status).toBe(200)
    expect((await again({ 'if-modified-since': 'yesterday' })).status).toBe(200)
  })

  test('has a page for people with every operation, which loads nothing and runs nothing', async () => {
    const { status, text, headers } = await nobody.get('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
    expect(text).not.toMatch(/<script|<img|<link rel="stylesheet"|\son\w+=|\sstyle=/)
    expect(text).toContain('type="application/atom+xml" href="/docs/changelog.atom"')
    const document = JSON.parse(committedDocument())
    for (const path of Object.keys(document.paths)) expect(text).toContain(path)
  })

  test('has a page for each part, and every link of it leads somewhere', async () => {
    const index = await nobody.get('/docs')
    const pages = new Set([...index.text.matchAll(/href="(\/docs\/reference\/[^"#]+)"/g)].map(([, to]) => to))
    expect(pages.size).toBe(JSON.parse(committedDocument()).tags.length)
    for (const page of pages) {
      const { status, text } = await nobody.get(page ?? '')
      expect(status).toBe(200)
      expect(text).toContain('<h3>Answers</h3>')
      for (const [, anchor] of text.matchAll(/href="#([^"]+)"/g)) expect(text).toContain(`id="${anchor}"`)
    }
    for (const [, page = '', anchor] of index.text.matchAll(/href="(\/docs\/reference\/[^"#]+)#([^"]+)"/g)) {
      expect((await nobody.get(page)).text).toContain(`id="${anchor}"`)
    }
  })

  test('shows of an operation what it takes, with an example that the server accepts', async () => {
    const { owner, path } = await server.organization()
    const { text } = await nobody.get('/docs/reference/reserved-tag-keys')
    const section = text.slice(text.indexOf('id="createReservedTagKey"'))
    const [, example = ''] = /<summary>Example<\/summary><pre>(.*?)<\/pre>/s.exec(section) ?? []
    const body = example.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    const created = await owner.post(`${path}/reserved-tag-keys`, body)
    expect(created.status).toBe(201)
    expect(created.body.data.attributes.key).toBe('environment')
  })

  test('has no other pages', async () => {
    expect((await nobody.get('/docs/reference/nothing')).status).toBe(404)
    expect((await nobody.get('/docs/nothing')).status).toBe(404)
  })

  test('tells how the API changed, newest first, in three forms', async () => {
    const { changes } = (await nobody.get('/docs/changelog.json')).body
    expect(changes.length).toBeGreaterThan(1)
    expect(changes.map(({ id }: { id: string }) => id)).toEqual(
      changes
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse(),
    )
    expect(changes.at(-1)).toMatchObject({
      id: '2026-11-21-a-first-version',
      date: '2026-11-21',
      kind: 'added',
      breaking: false,
      url: `${server.url}/docs/changelog#2026-11-21-a-first-version`,
    })

    const page = await nobody.get('/docs/changelog')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const shown = [...page.text.matchAll(/<article id="([^"]+)">/g)].map(([, id]) => id)
    expect(shown).toEqual(changes.map(({ id }: { id: string }) => id))

    const atom = await nobody.get('/docs/changelog.atom')
    expect(atom.headers.get('content-type')).toMatch(/^application\/atom\+xml/)
    expect(XMLValidator.validate(atom.text)).toBe(true)
    const { feed } = new XMLParser({ ignoreAttributes: false, htmlEntities: true }).parse(atom.text)
    expect(feed).toMatchObject({
      '@_xmlns': 'http://www.w3.org/2005/Atom',
      '@_xml:base': `${server.url}/`,
      id: `${server.url}/docs/changelog`,
      title: 'Changes of the Plinth API',
      updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/),
      author: { name: 'Plinth' },
      link: expect.arrayContaining([
        { '@_rel': 'self', '@_type': 'application/atom+xml', '@_href': `${server.url}/docs/changelog.atom` },
      ]),
    })
    expect(feed.entry.map(({ title }: { title: string }) => title)).toEqual(
      changes.map(({ title }: { title: string }) => title),
    )
    for (const entry of feed.entry) {
      expect(entry.id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(entry.content['@_type']).toBe('html')
      expect(entry.content['#text']).toMatch(/^<p>/)
    }
  })
})

describe('an entry of the change history', () => {
  const digest = 'a'.repeat(64)
  const entry = (changes: Record<string, string> = {}, body = 'What it is.') => {
    const fields = { title: 'A: title', kind: 'fixed', breaking: 'true', openapi: digest, ...changes }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
    return `---\n${lines.join('\n')}\n---\n${body}\n`
  }

  test('is read whole', () => {
    expect(parseChange('2026-01-31-a-change.md', entry())).toEqual({
      slug: '2026-01-31-a-change',
      date: '2026-01-31',
      title: 'A: title',
      kind: 'fixed',
      breaking: true,
      openapi: digest,
      body: 'What it is.',
    })
  })

  test.each([
    ['2026-01-31-a-change.md', entry({ kind: 'better' }), 'kind is missing or wrong'],
    ['2026-01-31-a-change.md', entry({ breaking: 'maybe' }), 'breaking is missing or wrong'],
    ['2026-01-31-a-change.md', entry({ openapi: 'abc' }), 'openapi is missing or wrong'],
    ['2026-01-31-a-change.md', entry({ title: ' ' }), 'title is missing or wrong'],
    ['2026-01-31-a-change.md', entry({}, ''), 'it says nothing'],
    ['2026-13-31-a-change.md', entry(), 'its name is not'],
    ['2026-01-31.md', entry(), 'its name is not'],
    ['2026-01-31-a-change.md', 'no fields at all', 'says nothing'],
  ])('is refused with the reason: %s %#', (file, text, reason) => {
    expect(() => parseChange(file, text)).toThrow(reason)
  })
})
