import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { type Entries, makeSlug } from '../../test/slugs.ts'
import { DocsError } from './provider-doc-files.ts'
import { readDocs, renderDoc, unpackDocs } from './provider-docs.ts'

async function docs(entries: Entries) {
  const archive = await makeSlug(entries)
  return readDocs(await unpackDocs(Readable.from([archive]), archive.length))
}

const named = async (entries: Entries) =>
  (await docs(entries)).map(({ category, slug }) => `${category}/${slug}`)

test('pages are found where tfplugindocs puts them, and are in order', async () => {
  const found = await named({
    './docs/resources/thing.md': 'x',
    'docs/index.md': 'x',
    'docs/data-sources/thing.md': 'x',
    'docs/functions/join.md': 'x',
    'docs/guides/first steps.md': 'x',
    'docs/ephemeral-resources/secret.md': 'x',
    'docs/list-resources/thing.md': 'x',
    'docs/actions/restart.md': 'x',
    'docs/resources/another.md': 'x',
    'docs/cdktf/python/resources/thing.md': 'x',
    'docs/resources/images/x.png': 'x',
    'docs/resources/deep/er.md': 'x',
    'docs/resources/.hidden.md': 'x',
    'docs/constructor/thing.md': 'x',
    'docs/readme.md': 'x',
    'website/docs/index.html.markdown': 'x',
    'README.md': 'x',
  })
  expect(found).toEqual([
    'overview/index',
    'guides/first steps',
    'functions/join',
    'resources/another',
    'resources/thing',
    'ephemeral-resources/secret',
    'list-resources/thing',
    'actions/restart',
    'data-sources/thing',
  ])
})

test('pages are found in the older layout', async () => {
  const found = await named({
    'website/docs/index.html.markdown': 'x',
    'website/docs/r/thing.html.markdown': 'x',
    'website/docs/d/thing.html.md': 'x',
    'website/docs/guides/start.markdown': 'x',
    'website/docs/functions/join.html.markdown': 'x',
    'website/provider.erb': 'x',
  })
  expect(found).toEqual([
    'overview/index',
    'guides/start',
    'functions/join',
    'resources/thing',
    'data-sources/thing',
  ])
})

test('a page has what its front matter says, and what it says itself', async () => {
  const content = [
    '---',
    'page_title: "demo_thing Resource - demo"',
    'subcategory: ""',
    'description: |-',
    '  Makes a thing:',
    '  the best.',
    'other: { a: 1 }',
    '---',
    '',
    '# demo_thing',
    'Makes it.',
  ].join('\r\n')
  const [index, guide, thing] = await docs({
    'docs/index.md': `\ufeff# Demo`,
    'docs/guides/start.md': '---\npage_title: First steps\nsubcategory: Basics\n---\nGo.',
    'docs/resources/thing.md': content,
  })
  expect(thing).toEqual({
    category: 'resources',
    slug: 'thing',
    path: 'docs/resources/thing.md',
    title: 'thing',
    pageTitle: 'demo_thing Resource - demo',
    subcategory: null,
    description: 'Makes a thing: the best.',
    content,
    truncated: false,
    headings: ['demo_thing'],
    text: 'demo_thing\nMakes it.',
  })
  expect(guide).toMatchObject({ title: 'First steps', subcategory: 'Basics', text: 'Go.' })
  expect(index).toMatchObject({ title: 'overview', pageTitle: null, content: '# Demo' })
})

test('front matter needs neither an end nor properties', async () => {
  const cases: [string, string][] = [
    ['---\n---\nbody', 'body'],
    ['---\nno end', 'no end'],
    ['--- \nlist\n---', ''],
    ['---\n- a\n---\nbody', 'body'],
    ['text\n---\na: b\n---\n', 'text\na: b'],
  ]
  for (const [content, text] of cases)
    expect([content, (await docs({ 'docs/index.md': content }))[0]?.text]).toEqual([content, text])
})

test('a page that is too long is cut, between characters', async () => {
  const [page] = await docs({ 'docs/index.md': `a${'\u00e9'.repeat(300_000)}` })
  expect(page?.truncated).toBe(true)
  expect(page?.content).toBe(`a${'\u00e9'.repeat(249_999)}`)
})

test('what cannot be read is refused, with its path', async () => {
  const page = 'docs/index.md'
  const cases: [Entries, RegExp][] = [
    [{ 'main.tf': '' }, /^it has no pages; pack them as docs\/index.md/],
    [{ [page]: Buffer.from([0xff, 0xfe, 0x41]) }, /^docs\/index.md is not text in UTF-8$/],
    [{ [page]: 'a\0b' }, /is not text in UTF-8/],
    [{ [page]: '---\na: "x\n---\n' }, /^the front matter of docs\/index.md is not YAML: /],
    [{ [page]: '---\na: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n' }, /is not YAML/],
    [{ [page]: `---\na: ${'x'.repeat(20_000)}\n---\n` }, /more than 16384 characters of front matter/],
    [
      { 'docs/resources/a.md': '', 'docs/r/a.markdown': '' },
      /^docs\/r\/a.markdown and docs\/resources\/a.md are the same page$/,
    ],
    [{ '../docs/index.md': 'x' }, /is not a path inside of it/],
    [[{ name: page, type: 'symlink', linkname: '/etc/passwd' }], /leads out of it/],
    [[{ name: page, type: 'character-device' }], /neither a file/],
    [[{ name: page, type: 'symlink', linkname: 'other.md' }], /no pages/],
    [Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`docs/guides/g${n}.md`, ''])), /5000 pages/],
    [
      Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`docs/guides/g${n}.md`, 'a'.repeat(8 * 2 ** 20)]),
      ),
      /^its pages have more than 33554432 bytes$/,
    ],
  ]
  for (const [entries, message] of cases) {
    const refused = await docs(entries).catch((error: unknown) => error)
    expect([message, refused]).toEqual([message, expect.any(DocsError)])
    expect((refused as Error).message).toMatch(message)
  }
  const noTar = unpackDocs(Readable.from([Buffer.from('no archive')]), 10)
  await expect(noTar).rejects.toThrow(/not a gzipped archive/)
})

test('a page that takes too long is refused', async () => {
  const files = new Map([['docs/index.md', Buffer.from('# Demo')]])
  await expect(readDocs(files, 0)).rejects.toThrow(new DocsError('docs/index.md takes too long to read'))
  expect(await readDocs(files)).toHaveLength(1)
})

test('links between pages lead to the addresses of these, however they are written', async () => {
  const at = async (path: string, href: string) => {
    const address = ({ category, slug }: { category: string; slug: string }) => `/${category}/${slug}`
    return /href="([^"]*)"/.exec(await renderDoc({ path, content: `[x](${href})` }, { address }))?.[1]
  }
  const cases: [string, string, string | undefined][] = [
    ['docs/resources/a.md', 'b.md', '/resources/b'],
    ['docs/resources/a.md', './b', '/resources/b'],
    ['docs/resources/a.md', '../data-sources/b.md?x=1#part', '/data-sources/b#doc-part'],
    ['docs/resources/a.md', '../guides/first%20steps.md', '/guides/first steps'],
    ['docs/resources/a.md', '../index', '/overview/index'],
    ['docs/index.md', 'resources/a/', '/resources/a'],
    ['website/docs/r/a.html.markdown', '../d/b.html', '/data-sources/b'],
    ['docs/resources/a.md', '../../main.tf', undefined],
    ['docs/resources/a.md', '../../../docs/resources/b.md', undefined],
    ['docs/resources/a.md', '/docs/providers/demo/r/b.html', undefined],
    ['docs/resources/a.md', '%ff.md', undefined],
    ['docs/resources/a.md', '//evil.example/docs/index.md', undefined],
  ]
  for (const [path, href, address] of cases) expect([href, await at(path, href)]).toEqual([href, address])
})
