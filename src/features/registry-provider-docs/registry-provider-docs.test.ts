import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  type TestOrganization,
} from '../../../test/harness.ts'
import {
  addKey,
  createProvider,
  createVersion,
  makeKey,
  publish,
  put,
  sha256,
} from '../../../test/registry.ts'
import { makeSlug } from '../../../test/slugs.ts'

const PAGES = {
  'docs/index.md':
    '---\npage_title: "Provider: demo"\ndescription: All of it.\n---\n# Demo\n\nWelcome to 100% of it.\n',
  'docs/resources/thing.md': [
    '---',
    'page_title: "demo_thing Resource - demo"',
    'subcategory: "Storage"',
    'description: |-',
    '  Makes a thing.',
    '---',
    '# demo_thing (Resource)',
    '',
    'See [the bucket](bucket.md#schema), [other](../data-sources/thing), [home](../index.md) and [no](/etc/passwd).',
    '',
    '<script>alert(1)</script>',
    '## Schema',
  ].join('\n'),
  'docs/resources/bucket.md': '# demo_bucket\n\nHolds a thing, says ÄRGER.\n\n## About things\n',
  'docs/data-sources/thing.md': '# demo_thing (Data Source)\n',
  'docs/guides/start.md': '---\npage_title: First steps\n---\nBuy a bucket_with 5_0 things.\n',
  'docs/resources/x.png': 'no page',
}

/** The titles of a list of pages, after their categories. */
const titles = (answer: Answer): string[] =>
  expectStatus(answer, 200).body.data.map(
    ({ attributes: { category, title } }: { attributes: Record<string, string> }) => `${category}/${title}`,
  )

/** Sends documentation for a version of the provider at `path`. */
async function document(
  client: Client,
  path: string,
  version: string,
  pages: Record<string, string> | Buffer = PAGES,
) {
  const { links } = expectStatus(await client.get(`${path}/versions/${version}`), 200).body.data
  const archive = Buffer.isBuffer(pages) ? pages : await makeSlug(pages)
  return { answer: await put(links['docs-upload'], archive), sha256: sha256(archive) }
}

/** A provider with a version that has documentation. */
async function documented(organization: TestOrganization) {
  const { path } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
  expectStatus((await document(organization.owner, path, '1.0.0')).answer, 200)
  return { path, docs: `${path}/versions/1.0.0/docs` }
}

const logged = async ({ owner, path }: TestOrganization) =>
  (await owner.get(`${path}/registry-log?filter[provider]=demo`)).body.data.map(
    ({ attributes: { action, subject } }: { attributes: { action: string; subject: object } }) => [
      action,
      subject,
    ],
  )

onEachDialect('documentation of providers', (server) => {
  test('travels with a version, and is listed in order and shown by page', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { path, docs } = await documented(organization)
    const list = await owner.get(docs)
    expect(titles(list)).toEqual([
      'overview/overview',
      'guides/First steps',
      'resources/bucket',
      'resources/thing',
      'data-sources/thing',
    ])
    const [, , , thing] = list.body.data
    const { id: versionId } = (await owner.get(`${path}/versions/1.0.0`)).body.data
    expect(thing).toEqual({
      id: expect.stringMatching(/^provdoc-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'provider-docs',
      attributes: {
        category: 'resources',
        slug: 'thing',
        title: 'thing',
        path: 'docs/resources/thing.md',
        subcategory: 'Storage',
        language: 'hcl',
        truncated: false,
        'page-title': 'demo_thing Resource - demo',
        description: 'Makes a thing.',
      },
      relationships: { 'provider-version': { data: { id: versionId, type: 'registry-provider-versions' } } },
      links: { self: `/api/v2/registry-provider-docs/${thing.id}` },
    })
    const shown = expectStatus(await owner.get(thing.links.self), 200).body.data
    const start = `/registry/providers/${organization.name}/demo/1.0.0/docs`
    expect(shown).toEqual({
      ...thing,
      attributes: {
        ...thing.attributes,
        content: PAGES['docs/resources/thing.md'],
        html: `<h1 id="doc-demo_thing-resource">demo_thing (Resource)</h1>
<p>See <a href="${start}/resources/bucket#doc-schema">the bucket</a>, <a href="${start}/data-sources/thing">other</a>, <a href="${start}/overview/index">home</a> and <a>no</a>.</p>

<h2 id="doc-schema">Schema</h2>
`,
      },
    })
    const second = await owner.get(`${docs}?page[size]=2&page[number]=2`)
    expect(titles(second)).toEqual(['resources/bucket', 'resources/thing'])
    expect(second.body.meta.pagination).toMatchObject({ 'next-page': 3, 'total-count': 5 })
    expect(titles(await owner.get(`${docs}?page[number]=9`))).toEqual([])
    expect((await owner.get(`${docs}?page[number]=0`)).status).toBe(400)
    const tools = '?filter[category]=resources&filter[slug]=thing,nothing&filter[language]=hcl'
    expect(titles(await owner.get(docs + tools))).toEqual(['resources/thing'])
    expect(titles(await owner.get(`${docs}?filter[category]=guides,overview`))).toHaveLength(2)
    expect(titles(await owner.get(`${docs}?filter[language]=python`))).toEqual([])
  })

  test('is found by words, those in names first, then those in headings', async () => {
    const organization = await server.organization()
    const { docs } = await documented(organization)
    const found = async (q: string) =>
      titles(await organization.owner.get(`${docs}?q=${encodeURIComponent(q)}`))
    expect(await found('thing')).toEqual([
      'resources/thing',
      'data-sources/thing',
      'resources/bucket',
      'guides/First steps',
    ])
    expect(await found('demo_thing')).toEqual(['resources/thing', 'data-sources/thing'])
    expect(await found('HOLDS ärger')).toEqual(['resources/bucket'])
    expect(await found('first  steps ')).toEqual(['guides/First steps'])
    expect(await found('holds nothing-at-all')).toEqual([])
    expect(await found('100%')).toEqual(['overview/overview'])
    expect(await found('5_0')).toEqual(['guides/First steps'])
    expect(await found('%')).toEqual(['overview/overview'])
    expect(await found('alert')).toEqual([])
    expect(await found("' or 1=1 \\")).toEqual([])
    expect(await found(' ')).toHaveLength(5)
    expect((await organization.owner.get(`${docs}?q=${'x'.repeat(300)}`)).status).toBe(400)
  })

  test('is searched over an organization, in the newest version of each provider', async () => {
    const organization = await server.organization()
    const { owner, path: home } = organization
    const key = await addKey(organization, await makeKey())
    const path = await createProvider(organization, 'demo')
    const options = { key, path, platforms: ['linux_amd64'] }
    const only = (name: string) => ({ [`docs/resources/${name}.md`]: `# ${name}\n\nAbout water.\n` })
    for (const version of ['1.9.0', '1.10.0', '2.0.0-beta1']) {
      await publish(organization, 'demo', version, options)
      await document(owner, path, version, only(`v${version.replaceAll('.', '-')}`))
    }
    const other = await createProvider(organization, 'other')
    await publish(organization, 'other', '0.1.0', { ...options, path: other })
    await document(owner, other, '0.1.0', only('thing'))
    const third = await createProvider(organization, 'third')
    await createVersion(owner, third, '1.0.0', key)
    await document(owner, third, '1.0.0', only('draft'))
    const search = async (query: string) => titles(await owner.get(`${home}/registry-provider-docs${query}`))
    expect(await search('?q=water')).toEqual(['resources/v1-10-0', 'resources/thing'])
    expect(await search('?q=water&filter[provider]=Other')).toEqual(['resources/thing'])
    expect(await search('?filter[slug]=thing&page[size]=1')).toEqual(['resources/thing'])
    expect(await search('?q=water&filter[provider]=third')).toEqual([])
    const revoked = { data: { type: 'registry-provider-versions', attributes: { status: 'revoked' } } }
    expectStatus(await owner.patch(`${path}/versions/1.10.0`, revoked), 200)
    expect(await search('?q=water&filter[provider]=demo')).toEqual(['resources/v1-9-0'])
  })

  test('is replaced as a whole, put on record and into the log, and goes with its version', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { path, docs } = await documented(organization)
    const shown = async () => (await owner.get(`${path}/versions/1.0.0`)).body.data.attributes['docs-shasum']
    const archive = await makeSlug({ ...PAGES, 'docs/actions/stop.md': '# Stop' })
    expectStatus((await document(owner, path, '1.0.0', archive)).answer, 200)
    const before = (await owner.get(docs)).body.data
    const again = await document(owner, path, '1.0.0', archive)
    expect(again.answer.status).toBe(200)
    expect(await shown()).toBe(again.sha256)
    expect((await owner.get(docs)).body.data).toEqual(before)
    const mended = await document(owner, path, '1.0.0', { 'docs/resources/thing.md': '# Better' })
    expect(mended.answer.status).toBe(200)
    expect(await shown()).toBe(mended.sha256)
    const [listed] = (await owner.get(`${path}/versions`)).body.data
    expect(listed.attributes['docs-shasum']).toBe(mended.sha256)
    const [page, ...rest] = (await owner.get(docs)).body.data
    expect(rest).toEqual([])
    expect((await owner.get(page.links.self)).body.data.attributes.content).toBe('# Better')
    expect((await owner.get(before[0].links.self)).status).toBe(404)
    const digests = (sha: string) =>
      expect.objectContaining({ version: '1.0.0', digests: { 'docs.tar.gz': sha } })
    expect((await logged(organization)).slice(0, 4)).toEqual([
      ['document', digests(mended.sha256)],
      ['document', digests(again.sha256)],
      ['document', expect.anything()],
      ['publish', expect.anything()],
    ])
    const trail = await (await server.organizationToken(organization)).get('/api/v2/organization/audit-trail')
    const events: { resource: { action: string } }[] = trail.body.data
    expect(events.filter(({ resource }) => resource.action === 'document')).toHaveLength(3)
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    expect((await owner.get(docs)).status).toBe(404)
    expect((await owner.get(page.links.self)).status).toBe(404)
  })

  test('that cannot be read is refused, and what was there stays', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { path, docs } = await documented(organization)
    const { links } = (await owner.get(`${path}/versions/1.0.0`)).body.data
    const details: [Buffer, RegExp][] = [
      [Buffer.from('no archive'), /refused: it is not a gzipped archive/],
      [await makeSlug({ 'main.tf': '' }), /refused: it has no pages; pack them as docs\/index.md/],
      [await makeSlug({ '../docs/index.md': '' }), /refused: ..\/docs\/index.md is not a path inside of it/],
      [
        await makeSlug({ 'docs/index.md': `${'a'.repeat(70_000)}\0` }),
        /refused: docs\/index.md is not text in UTF-8/,
      ],
    ]
    for (const [archive, detail] of details) {
      const { status, body } = await put(links['docs-upload'], archive)
      expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(detail)])
    }
    const large = await put(links['docs-upload'], Buffer.alloc(16 * 2 ** 20 + 1))
    expect(large.status).toBe(413)
    expect(titles(await owner.get(docs))).toHaveLength(5)
    const revoked = { data: { type: 'registry-provider-versions', attributes: { status: 'revoked' } } }
    expectStatus(await owner.patch(`${path}/versions/1.0.0`, revoked), 200)
    expect((await put(links['docs-upload'], await makeSlug(PAGES))).status).toBe(409)
  })

  test('of many pages is read beside the requests', async () => {
    const organization = await server.organization()
    const { path, docs } = await documented(organization)
    const many = Array.from({ length: 120 }, (_, n) => [
      `docs/resources/r${String(n).padStart(3, '0')}.md`,
      `# Number ${n}\n\n${'word '.repeat(200)}`,
    ])
    const { answer } = await document(organization.owner, path, '1.0.0', Object.fromEntries(many))
    expect(answer.status).toBe(200)
    const last = await organization.owner.get(`${docs}?page[size]=100&page[number]=2`)
    expect(titles(last)).toHaveLength(20)
    expect(titles(last).at(-1)).toBe('resources/r119')
  })

  test('race: of several that come at once one is there whole', async () => {
    const organization = await server.organization()
    const { path, docs } = await documented(organization)
    const only = (name: string) => ({ [`docs/guides/${name}1.md`]: name, [`docs/guides/${name}2.md`]: name })
    const sent = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => document(organization.owner, path, '1.0.0', only(name))),
    )
    expect(sent.map(({ answer }) => answer.status)).toEqual([200, 200, 200, 200])
    const [first, second, ...rest] = titles(await organization.owner.get(docs))
    expect([second, rest]).toEqual([first?.replace('1', '2'), []])
  })

  test('is read by whoever may read the registry, and replaced by publishers', async () => {
    const organization = await server.organization()
    const { path, docs } = await documented(organization)
    const [{ links }] = (await organization.owner.get(docs)).body.data
    const addresses = [docs, links.self, `${organization.path}/registry-provider-docs?q=thing`]
    const member = await server.member(organization)
    const publisher = await server.member(organization, ['manage-providers'])
    for (const address of addresses) {
      for (const reader of [member, await server.teamToken(organization)])
        expect([address, (await reader.get(address)).status]).toEqual([address, 200])
      expect((await server.nobody.get(address)).status).toBe(401)
      expect(
        (await (await server.user()).get(`${address}${address.includes('?') ? '&' : '?'}page[number]=0`))
          .status,
      ).toBe(404)
    }
    expect((await member.get(`${path}/versions/1.0.0`)).body.data.links['docs-upload']).toBeUndefined()
    const { links: given } = (await publisher.get(`${path}/versions/1.0.0`)).body.data
    expect((await put(given['docs-upload'], await makeSlug({ 'docs/index.md': 'new' }))).status).toBe(200)
    expectStatus(await organization.owner.delete(`/api/v2/teams/${publisher.teamId}`), 204)
    expect((await put(given['docs-upload'], await makeSlug(PAGES))).status).toBe(404)
    expect((await organization.owner.get(`${path}/versions/9.9.9/docs`)).status).toBe(404)
    expect((await organization.owner.get('/api/v2/registry-provider-docs/provdoc-none')).status).toBe(404)
  })
})
