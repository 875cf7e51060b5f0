import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGzip, gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../../test/engine/bench.ts'
import { unpackSlug } from './slug.ts'

type Entry = Partial<Header> & { name: string; content?: string }

async function archive(entries: Entry[]): Promise<Buffer> {
  const tar = pack()
  for (const { content, ...header } of entries) tar.entry(header, content ?? '')
  tar.finalize()
  return buffer(tar.pipe(createGzip()))
}

/** Unpacks into a directory that has a neighbour, which nothing may reach. */
async function unpack(slug: Buffer, limits?: { bytes: number; entries: number }) {
  const path = temporaryDirectory()
  const root = join(path, 'root')
  mkdirSync(root)
  mkdirSync(join(path, 'outside'))
  writeFileSync(join(path, 'outside/file'), 'untouched')
  const result = await unpackSlug(Readable.from([slug]), root, limits).then(
    () => undefined,
    (error: Error) => error.message,
  )
  expect(readdirSync(path).sort()).toEqual(['outside', 'root'])
  expect(readdirSync(join(path, 'outside'))).toEqual(['file'])
  expect(readFileSync(join(path, 'outside/file'), 'utf8')).toBe('untouched')
  return { root, error: result }
}

const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname })

describe('a slug', () => {
  test('is unpacked, with its modes and links', async () => {
    const { root, error } = await unpack(
      await archive([
        { name: './' },
        { name: 'modules/', type: 'directory' },
        { name: 'modules/a/main.tf', content: 'a' },
        { name: 'run.sh', content: '#!/bin/sh', mode: 0o755 },
        { name: 'secret', content: 'x', mode: 0o4000 },
        { name: 'copy', type: 'link', linkname: 'run.sh' },
        link('modules/b', 'a'),
        link('modules/dangling', '../later/file'),
        { name: 'twice', content: 'first' },
        { name: 'twice', content: 'last' },
      ]),
    )
    expect(error).toBeUndefined()
    expect(readFileSync(join(root, 'modules/b/main.tf'), 'utf8')).toBe('a')
    expect(readlinkSync(join(root, 'modules/b'))).toBe('a')
    expect(lstatSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o755)
    expect(lstatSync(join(root, 'secret')).mode & 0o7777).toBe(0o600)
    expect(readFileSync(join(root, 'copy'), 'utf8')).toBe('#!/bin/sh')
    expect(lstatSync(join(root, 'copy')).nlink).toBe(1)
    expect(readFileSync(join(root, 'twice'), 'utf8')).toBe('last')
  })

  const hostile: [what: string, entries: Entry[], error: RegExp][] = [
    ['an absolute name', [{ name: '/etc/x', content: 'x' }], /"\/etc\/x" is an absolute path/],
    ['a name that climbs', [{ name: 'a/../../outside/x', content: 'x' }], /leads out of the archive/],
    ['an absolute link', [link('a', '/etc')], /"a" is a link that leads out of the archive/],
    ['a link that climbs', [link('a/b', '../../outside')], /leads out/],
    ['a link through a link', [link('a/b/c', '../..'), link('a/b/c/d', '../../nowhere')], /leads out/],
    ['links that climb together', [link('x/y/z', '../..'), link('w', 'x/y/z/../outside')], /leads out/],
    ['a hard link that climbs', [{ name: 'a', type: 'link', linkname: '../outside/file' }], /leads out/],
    [
      'a hard link to a link',
      [link('a', 'b'), { name: 'c', type: 'link', linkname: 'a' }],
      /"a" is linked to/,
    ],
    ['a device', [{ name: 'a', type: 'character-device', devmajor: 1, devminor: 3 }], /neither a file/],
    ['a pipe', [{ name: 'a', type: 'fifo' }], /neither a file/],
  ]

  test.each(hostile)('with %s is refused', async (_what, entries, error) => {
    expect((await unpack(await archive(entries))).error).toMatch(error)
  })

  test('is never written through a link of its own', async () => {
    const { root, error } = await unpack(
      await archive([
        { name: 'real/', type: 'directory' },
        link('a', 'real'),
        { name: 'a/file', content: 'x' },
      ]),
    )
    // The directory was made for the file, and the link then took its place.
    expect(error).toBeUndefined()
    expect(lstatSync(join(root, 'a')).isSymbolicLink()).toBe(true)
    expect(existsSync(join(root, 'real/file'))).toBe(false)
  })

  test('has its limits', async () => {
    const many = await archive(['a', 'b', 'c'].map((name) => ({ name, content: 'x'.repeat(2048) })))
    expect((await unpack(many, { bytes: 2 ** 20, entries: 2 })).error).toMatch(/more than 2 entries/)
    expect((await unpack(many, { bytes: 5000, entries: 9 })).error).toMatch(/more than 5000 bytes/)
    const copies = Array.from({ length: 9 }, (_, index) => ({
      name: `copy${index}`,
      type: 'link' as const,
      linkname: 'a',
    }))
    const copied = await archive([{ name: 'a', content: 'x'.repeat(4096) }, ...copies])
    expect((await unpack(copied, { bytes: 20_000, entries: 99 })).error).toMatch(/more than 20000 bytes/)
  })

  test('must be whole', async () => {
    const slug = await archive([{ name: 'a', content: 'x'.repeat(100_000) }])
    for (const broken of [slug.subarray(0, slug.length / 2), Buffer.from('x'), gzipSync('x'.repeat(2000))]) {
      expect((await unpack(broken)).error).toBe('it is not a whole gzip tar archive')
    }
  })
})
