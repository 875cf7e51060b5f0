import { rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { inspectRelease } from '../../cli/src/release/inspect.ts'
import { unpackDocs } from '../../src/lib/provider-docs.ts'
import { onEachDialect, type TestOrganization } from '../harness.ts'
import { makeKey } from '../registry.ts'
import { callPlinth, environmentOf } from './plinth.ts'
import { type WrittenRelease, writeRelease } from './releases.ts'

// The documentation that `plinth provider publish` sends with a release.

const PAGES = {
  'docs/index.md': '---\npage_title: "Provider: demo"\n---\n# Demo\n',
  'docs/resources/thing.md': '# demo_thing\n',
  'docs/resources/thing.png': 'no page',
  'docs/.hidden/index.md': 'no page',
}

const PLATFORMS = ['linux_amd64']

const signer = makeKey()

async function documented(pages: Record<string, string | Buffer> = PAGES): Promise<WrittenRelease> {
  const release = await writeRelease({ platforms: PLATFORMS, key: await signer })
  for (const [path, content] of Object.entries(pages)) release.writeSource(path, content)
  return release
}

const inspect = ({ dist, keyFile }: WrittenRelease, docs?: string | false) =>
  inspectRelease(dist, { key: keyFile, docs }, new AbortController().signal)

/** What is packed, or what is wrong with it. */
async function packed(release: WrittenRelease, docs?: string | false) {
  const { release: sound, findings } = await inspect(release, docs)
  for (const { fix } of findings) expect(fix).toMatch(/^[A-Z].{10}/)
  const source = join(release.dist, '..')
  const found = findings.map(({ severity, code, file, message }) =>
    `${severity} ${code}: ${file}: ${message}`.replace(`${source}/`, ''),
  )
  expect(sound === undefined).toBe(found.some((finding) => finding.startsWith('error ')))
  return { pages: sound?.docs?.pages, findings: found }
}

test('pages are found beside the release, in the layout of now or the older one, or where they are said to be', async () => {
  const release = await documented()
  const pages = ['docs/index.md', 'docs/resources/thing.md']
  expect(await packed(release)).toEqual({ pages, findings: [] })
  release.writeSource('website/docs/r/thing.html.markdown', '# Old\n')
  expect((await packed(release)).pages).toEqual(pages)
  expect((await packed(release, join(release.dist, '../website/docs'))).pages).toEqual([
    'website/docs/r/thing.html.markdown',
  ])
  expect(await packed(release, false)).toEqual({ pages: undefined, findings: [] })
  rmSync(join(release.dist, '../docs'), { recursive: true })
  expect((await packed(release)).pages).toEqual(['website/docs/r/thing.html.markdown'])
  rmSync(join(release.dist, '../website'), { recursive: true })
  expect(await packed(release)).toEqual({ pages: undefined, findings: [] })
  await expect(inspect(release, join(release.dist, 'none'))).rejects.toMatchObject({ exit: 'usage' })
})

test('an archive depends on the pages only, and holds them as they are', async () => {
  const [one, other] = [await documented(), await documented()]
  utimesSync(join(other.dist, '../docs/index.md'), new Date(0), new Date(0))
  other.writeSource('docs/resources/more.png', 'no page')
  const docs = (await inspect(one)).release?.docs
  expect((await inspect(other)).release?.docs?.sha256).toBe(docs?.sha256)
  const bytes = docs?.bytes ?? Buffer.alloc(0)
  const files = await unpackDocs(Readable.from([bytes]), bytes.length)
  expect([...files].map(([path, content]) => [path, content.toString()])).toEqual(
    Object.entries(PAGES).slice(0, 2),
  )
  other.writeSource('docs/index.md', '# Other\n')
  expect((await inspect(other)).release?.docs?.sha256).not.toBe(docs?.sha256)
})

test('what the registry does not know is left out, and links lead nowhere else', async () => {
  const release = await documented({
    ...PAGES,
    'docs/README.md': 'no page',
    'docs/cdktf/python/index.md': 'no page',
    'docs/guides/deep/er.md': 'no page',
    'docs/guides/real.md': '# Guide\n',
    'SECRET.md': 'not for others',
    'secrets/a.md': 'not for others',
  })
  const docs = join(release.dist, '../docs')
  symlinkSync('real.md', join(docs, 'guides/same.md'))
  symlinkSync('../../SECRET.md', join(docs, 'guides/secret.md'))
  symlinkSync('../secrets', join(docs, 'functions'))
  expect(await packed(release)).toEqual({
    pages: ['docs/guides/real.md', 'docs/guides/same.md', 'docs/index.md', 'docs/resources/thing.md'],
    findings: [
      'warning docs-page-unknown: docs/README.md: the registry knows no such page; it is not sent',
      'warning docs-folder-unknown: docs/cdktf: the registry knows no such folder; it is not sent',
      'warning docs-link: docs/functions: it is a link that leads out of the documentation; it is not sent',
      'warning docs-folder-unknown: docs/guides/deep: the registry knows no such folder; it is not sent',
      'warning docs-link: docs/guides/secret.md: it is a link that leads out of the documentation; it is not sent',
    ],
  })
})

test('a directory without pages is no failure, unless it was asked for', async () => {
  const release = await documented({ 'docs/architecture.md': '# Ours\n' })
  expect(await packed(release)).toEqual({
    pages: undefined,
    findings: ['warning docs-empty: docs: no file in it is a page of documentation; none is sent'],
  })
  expect((await packed(release, join(release.dist, '../docs'))).findings[0]).toMatch(
    /^error docs-empty: docs: /,
  )
})

test('what the registry would refuse or cut is found, all at once', async () => {
  const release = await documented({
    'docs/index.md': '---\na: [\n---\n',
    'docs/guides/long.md': 'x'.repeat(500_001),
    'docs/guides/long-matter.md': `---\na: ${'x'.repeat(17_000)}\n---\n`,
    'docs/resources/thing.md': Buffer.from([0xff]),
    'docs/r/thing.html.markdown': '# Same\n',
  })
  expect((await packed(release)).findings).toEqual([
    'error docs-page-malformed: docs/guides/long-matter.md: it has more than 16384 characters of front matter',
    'warning docs-page-long: docs/guides/long.md: it has 500001 bytes',
    expect.stringMatching(
      /^error docs-page-malformed: docs\/index\.md: the front matter of it is not YAML: /,
    ),
    expect.stringMatching(
      /^error docs-page-twice: docs\/resources\/thing\.md: \S+r\/thing\.html\.markdown is the same page$/,
    ),
    'error docs-page-malformed: docs/resources/thing.md: it is not text in UTF-8',
  ])
})

test('more than the registry takes is found', async () => {
  const release = await documented({})
  const large = Array.from({ length: 70 }, (_, n) => [`docs/guides/g${n}.md`, 'x'.repeat(490_000)])
  for (const [path = '', content = ''] of large) release.writeSource(path, content)
  expect((await packed(release)).findings).toEqual([
    'error docs-too-large: docs: its pages have 34300000 bytes, and the registry takes 33554432',
  ])
})

onEachDialect('plinth provider publish with documentation', (server) => {
  const callJson = async ({ name, owner }: TestOrganization, dist: string, ...more: string[]) => {
    const args = ['provider', 'publish', dist, '--organization', name, '--json', ...more]
    const { code, stdout } = await callPlinth(args, environmentOf(server, owner.token))
    return { code, body: JSON.parse(stdout) }
  }

  test('sends it before the release can be installed, and again only if it changed', async () => {
    const organization = await server.organization()
    const { name, owner, path } = organization
    const release = await documented()
    const key = ['--key', release.keyFile]
    const url = `${server.url}/registry/providers/${name}/demo/1.2.3/docs`
    const dry = await callJson(organization, release.dist, ...key, '--dry-run')
    const docs = {
      directory: join(release.dist, '../docs'),
      pages: ['docs/index.md', 'docs/resources/thing.md'],
      shasum: expect.stringMatching(/^\w{64}$/),
    }
    expect(dry.body).toMatchObject({ status: 'dry-run', docs })

    const first = await callJson(organization, release.dist, ...key)
    expect(first).toMatchObject({
      code: 0,
      body: { status: 'published', docs: { ...docs, status: 'sent', url } },
    })
    const logged = async () =>
      (await owner.get(`${path}/registry-log`)).body.data.map(
        ({ attributes }: { attributes: { action: string } }) => attributes.action,
      )
    expect((await logged()).slice(0, 2)).toEqual(['publish', 'document'])
    const version = `${path}/registry-providers/private/${name}/demo/versions/1.2.3`
    const shown = await owner.get(version)
    expect(shown.body.data.attributes['docs-shasum']).toBe(first.body.docs.shasum)
    expect(first.body.docs.shasum).toBe(dry.body.docs.shasum)

    const again = await callJson(organization, release.dist)
    expect(again.body).toMatchObject({ status: 'already-published', docs: { status: 'unchanged' } })
    const before = await logged()
    release.writeSource('docs/index.md', '# Better\n')
    const changed = await callJson(organization, release.dist)
    expect(changed).toMatchObject({
      code: 0,
      body: {
        status: 'already-published',
        uploaded: [],
        docs: { status: 'sent' },
        verified: { downloads: false },
      },
    })
    expect(await logged()).toEqual(['document', ...before])
    const without = await callJson(organization, release.dist, '--no-docs')
    expect(without.body).toMatchObject({ status: 'already-published', docs: null })
    expect((await owner.get(`${version}/docs`)).body.data).toHaveLength(2)
  })

  test('tells people of it, and sends nothing while it is not in order', async () => {
    const organization = await server.organization()
    const release = await documented({ 'pages/index.md': '---\na: [\n---\n' })
    const pages = join(release.dist, '../pages')
    const args = ['provider', 'publish', release.dist, '--organization', organization.name]
    const print = (...more: string[]) =>
      callPlinth(
        [...args, '--key', release.keyFile, '--docs', pages, ...more],
        environmentOf(server, organization.owner.token),
      )
    const refused = await print()
    expect(refused.code).toBe(3)
    expect(refused.stderr).toMatch(/^error: \S+pages\/index\.md: the front matter .*\n {2}fix: /)
    expect((await organization.owner.get(`${organization.path}/registry-providers`)).body.data).toEqual([])

    release.writeSource('pages/index.md', '# Demo\n')
    expect((await print('--dry-run')).stdout).toContain(
      `Documentation: 1 page from ${pages}.\nNothing was sent`,
    )
    const url = `${server.url}/registry/providers/${organization.name}/demo/1.2.3/docs`
    const sent = await print()
    expect(sent.stderr).toMatch(
      /\.zip \(.*\)\nuploaded docs\.tar\.gz \(\d+ B\)\nuploaded \S+SHA256SUMS\.sig /,
    )
    expect(sent.stdout).toContain(`Documentation: 1 page from ${pages}, to be read at ${url}\n`)
    expect((await print()).stdout).toContain(`Documentation: 1 page, as it was, to be read at ${url}\n`)
  })
})
