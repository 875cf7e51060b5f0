import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unique } from '../../test/harness.ts'
import { type BlobStore, BlobTooLarge } from './blob-store.ts'
import { FileBlobStore } from './file.ts'

/** One way to keep blobs, and a look at what it keeps that the interface does not give. */
interface Kind {
  name: string
  open: () => Promise<{ store: BlobStore; countStaged: () => number; close: () => void }>
}

const KINDS: Kind[] = [
  {
    name: 'files',
    open: async () => {
      const directory = mkdtempSync(join(tmpdir(), 'plinth-blobs-'))
      return {
        store: await FileBlobStore.open(directory),
        countStaged: () => readdirSync(join(directory, '.staging')).length,
        close: () => rmSync(directory, { recursive: true }),
      }
    },
  },
]

describe.each(KINDS)('blobs kept as $name', ({ open }) => {
  let store: BlobStore
  let opened: Awaited<ReturnType<Kind['open']>>

  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened.close())

  const LIMIT = 10 << 20
  const stage = (bytes: Buffer, maxBytes = LIMIT) => store.stage(Readable.from([bytes]), maxBytes)
  const read = async (key: string, range?: { start: number; end: number }) =>
    buffer(await store.read(key, range))
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

  test('are staged with their size and digest, stored, and read', async () => {
    const bytes = Buffer.from('some bytes')
    const key = `things/${unique()}/a_b-c.zip`
    const staged = await stage(bytes)
    expect(staged).toMatchObject({ size: 10, sha256: sha256(bytes) })
    expect(await staged.read()).toEqual(bytes)
    expect(readFileSync(staged.path)).toEqual(bytes)
    expect(await store.size(key)).toBeUndefined()
    await staged.store(key)
    expect(await read(key)).toEqual(bytes)
    expect(await store.size(key)).toBe(10)
  })

  test('may be empty', async () => {
    const key = unique()
    const staged = await stage(Buffer.alloc(0))
    expect(staged).toMatchObject({ size: 0, sha256: sha256(Buffer.alloc(0)) })
    await staged.store(key)
    expect(await read(key)).toHaveLength(0)
  })

  test('may come in many pieces and be larger than any buffer', async () => {
    const bytes = Buffer.alloc(9 << 20, 'abcdefg')
    const pieces = Array.from({ length: 90 }, (_, n) =>
      bytes.subarray((n * bytes.length) / 90, ((n + 1) * bytes.length) / 90),
    )
    const key = unique()
    const staged = await store.stage(Readable.from(pieces), LIMIT)
    expect(staged).toMatchObject({ size: bytes.length, sha256: sha256(bytes) })
    await staged.store(key)
    expect(sha256(await read(key))).toBe(sha256(bytes))
    expect(await read(key, { start: 7_000_000, end: 7_000_006 })).toEqual(
      bytes.subarray(7_000_000, 7_000_007),
    )
  })

  test('are read in part, first and last byte included', async () => {
    const key = unique()
    await (await stage(Buffer.from('0123456789'))).store(key)
    expect(String(await read(key, { start: 0, end: 0 }))).toBe('0')
    expect(String(await read(key, { start: 3, end: 5 }))).toBe('345')
    expect(String(await read(key, { start: 9, end: 9 }))).toBe('9')
  })

  test('are replaced by what is stored later under their key', async () => {
    const key = unique()
    await (await stage(Buffer.from('old'))).store(key)
    await (await stage(Buffer.from('new'))).store(key)
    expect(String(await read(key))).toBe('new')
  })

  test('exactly as large as allowed are kept; one byte more is refused, and nothing stays', async () => {
    const staged = await stage(Buffer.from('12345'), 5)
    await staged.discard()
    const before = opened.countStaged()
    await expect(stage(Buffer.from('123456'), 5)).rejects.toBeInstanceOf(BlobTooLarge)
    expect(opened.countStaged()).toBe(before)
  })

  test('whose source fails are not kept', async () => {
    const before = opened.countStaged()
    const source = Readable.from(
      (async function* () {
        yield Buffer.from('half of it')
        throw new Error('the line went dead')
      })(),
    )
    await expect(store.stage(source, LIMIT)).rejects.toThrow('the line went dead')
    expect(opened.countStaged()).toBe(before)
  })

  test('that were discarded are gone, and discarding what was stored does nothing', async () => {
    const before = opened.countStaged()
    const unwanted = await stage(Buffer.from('unwanted'))
    await unwanted.discard()
    await unwanted.discard()
    expect(existsSync(unwanted.path)).toBe(false)

    const key = unique()
    const wanted = await stage(Buffer.from('wanted'))
    await wanted.store(key)
    await wanted.discard()
    expect(String(await read(key))).toBe('wanted')
    expect(opened.countStaged()).toBe(before)
  })

  test('that do not exist cannot be read, and are removed without complaint', async () => {
    const key = unique()
    await expect(store.read(key)).rejects.toThrow()
    await store.remove(key)
    await (await stage(Buffer.from('short life'))).store(key)
    await store.remove(key)
    await expect(store.read(key)).rejects.toThrow()
  })

  test.each([
    '',
    '/etc/passwd',
    '../up',
    'a/../../b',
    'a/./b',
    'a//b',
    'a/',
    '.hidden',
    'a b',
    'ä',
    'a\0',
    'a\n',
  ])('have no key %j', async (key) => {
    const staged = await stage(Buffer.from('x'))
    await expect(staged.store(key)).rejects.toThrow('not a blob key')
    await expect(store.read(key)).rejects.toThrow('not a blob key')
    await expect(store.remove(key)).rejects.toThrow('not a blob key')
    await staged.discard()
  })

  test('can be stored now', async () => {
    await expect(store.check()).resolves.toBeUndefined()
  })
})

describe('files', () => {
  test('are for their owner only, and not ready without their directory', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'plinth-blobs-'))
    const directory = join(parent, 'deep', 'blobs')
    const store = await FileBlobStore.open(directory)
    const staged = await store.stage(Readable.from([Buffer.from('x')]), 10)
    await staged.store('a/b')
    expect(statSync(join(directory, 'a/b')).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o700)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    rmSync(parent, { recursive: true })
    await expect(store.check()).rejects.toThrow()
  })
})
