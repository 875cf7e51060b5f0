import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Vault, VaultError } from '../lib/vault.ts'
import { BlobTooLarge } from './blob-store.ts'
import { FileBlobStore } from './file.ts'
import { SealedBlobs } from './sealed.ts'

const PART = 64 * 1024
const STORED_PART = PART + 16
const HEADER = 8 + 8 + 12 + 32 + 16
const SIZES = [0, 1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1, 5 * PART, 5 * PART + 77]

describe('sealed blobs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-sealed-'))
  const keys = [randomBytes(32), randomBytes(32)] as const
  let files: FileBlobStore
  let sealed: SealedBlobs
  let count = 0
  beforeAll(async () => {
    files = await FileBlobStore.open(directory)
    sealed = new SealedBlobs(files, new Vault([keys[0]]))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const source = (plain: Buffer) => {
    const pieces: Buffer[] = []
    for (let at = 0; at < plain.length; at += 10_007) pieces.push(plain.subarray(at, at + 10_007))
    return Readable.from(pieces, { objectMode: false })
  }
  const keep = async (plain: Buffer) => {
    const key = `things/${count++}`
    const staged = await sealed.stage(source(plain), plain.length)
    await staged.store(key)
    return key
  }
  const read = async (key: string, range?: { start: number; end: number }) =>
    buffer(await sealed.read(key, range))
  const pathOf = (key: string) => join(directory, key)
  /** The same blob with other bytes in its file. */
  const changed = async (plain: Buffer, change: (stored: Buffer) => Buffer) => {
    const key = await keep(plain)
    writeFileSync(pathOf(key), change(readFileSync(pathOf(key))))
    return key
  }
  const partsOf = (stored: Buffer) => {
    const parts: Buffer[] = []
    for (let at = HEADER; at < stored.length; at += STORED_PART)
      parts.push(stored.subarray(at, at + STORED_PART))
    return parts
  }
  const rebuilt = (stored: Buffer, parts: readonly Buffer[]) =>
    Buffer.concat([stored.subarray(0, HEADER), ...parts])

  test.each(SIZES)('of %i bytes come back as they were, whole and in part', async (size) => {
    const plain = randomBytes(size)
    const staged = await sealed.stage(source(plain), size)
    expect(staged).toMatchObject({
      size,
      sha256: createHash('sha256').update(plain).digest('hex'),
      sealed: true,
    })
    expect((await staged.read()).equals(plain)).toBe(true)
    expect((await buffer(staged.stream())).equals(plain)).toBe(true)
    const key = `things/${count++}`
    await staged.store(key)
    expect((await read(key)).equals(plain)).toBe(true)
    expect(await sealed.size(key)).toBe(size)
    const borders = [0, 1, PART - 1, PART, PART + 1, 2 * PART - 1, 2 * PART, size - 2, size - 1]
    const inside = [...new Set(borders.filter((at) => at >= 0 && at < size))]
    for (const start of inside)
      for (const end of inside.filter((each) => each >= start)) {
        const expected = plain.subarray(start, end + 1)
        expect((await read(key, { start, end })).equals(expected), `${start}-${end}`).toBe(true)
      }
  })

  test('show nothing of what they hold', async () => {
    const plain = Buffer.alloc(3 * PART, 'a secret text; ')
    const stored = readFileSync(pathOf(await keep(plain)))
    expect(stored.includes('secret')).toBe(false)
    // Equal parts look different, and so do equal blobs.
    const [first, second] = partsOf(stored)
    expect(first?.equals(second as Buffer)).toBe(false)
    expect(
      readFileSync(pathOf(await keep(plain)))
        .subarray(HEADER)
        .equals(stored.subarray(HEADER)),
    ).toBe(false)
  })

  test('with any bit changed are refused', async () => {
    const plain = randomBytes(2 * PART + 100)
    const stored = readFileSync(pathOf(await keep(plain)))
    const places = [0, 9, 17, 30, HEADER - 1, HEADER, HEADER + PART, HEADER + STORED_PART, stored.length - 1]
    for (const place of places) {
      const key = await changed(plain, (bytes) => {
        bytes[place] = (bytes[place] as number) ^ 1
        return bytes
      })
      await expect(read(key), `byte ${place}`).rejects.toBeInstanceOf(VaultError)
    }
  })

  test('cut off, also between parts, are refused', async () => {
    const plain = randomBytes(3 * PART)
    const length = HEADER + 3 * STORED_PART
    for (const left of [
      0,
      8,
      HEADER - 1,
      HEADER,
      HEADER + 5,
      HEADER + STORED_PART,
      HEADER + 2 * STORED_PART,
      length - 1,
    ]) {
      const key = await changed(plain, (bytes) => bytes.subarray(0, left))
      await expect(read(key), `${left} bytes`).rejects.toBeInstanceOf(VaultError)
      const range = { start: 10, end: 3 * PART - 1 }
      await expect(read(key, range), `a part of ${left} bytes`).rejects.toBeInstanceOf(VaultError)
    }
  })

  test('with parts exchanged, repeated, left out or added are refused', async () => {
    const plain = randomBytes(3 * PART + 5)
    const rearrange = [
      ([a, b, c, d]: Buffer[]) => [b, a, c, d],
      ([a, , c, d]: Buffer[]) => [a, c, d],
      ([a, b, c, d]: Buffer[]) => [a, a, b, c, d],
      ([a, b, c, d]: Buffer[]) => [a, b, c, d, d],
      ([a, b, , d]: Buffer[]) => [a, b, d],
    ]
    for (const how of rearrange) {
      const key = await changed(plain, (stored) => rebuilt(stored, how(partsOf(stored)) as Buffer[]))
      await expect(read(key)).rejects.toBeInstanceOf(VaultError)
    }
    const other = readFileSync(pathOf(await keep(plain)))
    const mixed = await changed(plain, (stored) =>
      rebuilt(stored, [...partsOf(stored).slice(0, 3), ...partsOf(other).slice(3)]),
    )
    await expect(read(mixed)).rejects.toBeInstanceOf(VaultError)
  })

  test('too large are refused, and leave nothing', async () => {
    const staged = () => readdirSync(join(directory, '.staging'), { recursive: true }).length
    const before = staged()
    await expect(sealed.stage(source(randomBytes(PART)), PART - 1)).rejects.toBeInstanceOf(BlobTooLarge)
    const broken = Readable.from(
      (async function* () {
        yield randomBytes(PART)
        throw new Error('the sender is gone')
      })(),
      { objectMode: false },
    )
    await expect(sealed.stage(broken, 10 * PART)).rejects.toThrow('the sender is gone')
    expect(staged()).toBe(before)
  })

  test('are sealed anew under another key without a change of what they hold, and only once', async () => {
    const plain = randomBytes(2 * PART + 3)
    const key = await keep(plain)
    const length = readFileSync(pathOf(key)).length
    const renewing = new SealedBlobs(files, new Vault([keys[1], keys[0]]))
    expect(await renewing.reseal(key)).toBe(true)
    expect(await renewing.reseal(key)).toBe(false)
    expect(readFileSync(pathOf(key)).length).toBe(length)
    const renewed = new SealedBlobs(files, new Vault([keys[1]]))
    expect((await buffer(await renewed.read(key))).equals(plain)).toBe(true)
    await expect(read(key)).rejects.toThrow(/neither the secret key nor an old one/)
  })

  test('can be opened on their way elsewhere', async () => {
    const plain = randomBytes(PART + 9)
    const stored = readFileSync(pathOf(await keep(plain)))
    const opened = await buffer(Readable.from(sealed.open(source(stored)), { objectMode: false }))
    expect(opened.equals(plain)).toBe(true)
    const cut = sealed.open(source(stored.subarray(0, 20)))
    await expect(buffer(Readable.from(cut, { objectMode: false }))).rejects.toBeInstanceOf(VaultError)
  })

  test('are not taken for plain ones, nor the other way round', async () => {
    await (await files.stage(source(Buffer.alloc(200, 'x')), 1000)).store('things/plain')
    await expect(read('things/plain')).rejects.toThrow('not a sealed blob')
    expect(await sealed.reseal('things/plain')).toBe(false)
  })
})
