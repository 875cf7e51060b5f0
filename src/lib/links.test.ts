import { describe, expect, test } from 'vitest'
import { Links, type LinkTarget } from './links.ts'

const NOW = '2024-01-02T03:04:05.678Z'
const TARGET: LinkTarget = { method: 'PUT', kind: 'binaries', id: 'provpltfrm-1' }

/** The parts of a link's path, as the server's router finds them. */
function parse(link: string) {
  const [, , kind = '', id = '', expires = '', signature = '', filename] = new URL(link).pathname.split('/')
  return { kind, id, expires, signature, filename }
}

describe('links', () => {
  const links = new Links(Buffer.alloc(32, 1), () => 'https://plinth.example.com')
  const { expires, signature } = parse(links.sign(TARGET, NOW, 60))
  const later = (seconds: number) => new Date(Date.parse(NOW) + seconds * 1000).toISOString()

  test('are absolute, and end with the name of the file when there is one', () => {
    expect(links.sign(TARGET, NOW, 60)).toMatch(
      /^https:\/\/plinth\.example\.com\/storage\/binaries\/provpltfrm-1\/1704164705\/[\w-]{43}$/,
    )
    expect(links.sign(TARGET, NOW, 60, 'a b/ü.zip')).toMatch(/\/[\w-]{43}\/a%20b%2F%C3%BC\.zip$/)
  })

  test('say at whose request they were made, and hold for nobody else', () => {
    const target = { ...TARGET, requestedBy: 'user-1' }
    const { expires, signature } = parse(links.sign(target, NOW, 60))
    expect(signature).toMatch(/^[\w-]{43}~user-1$/)
    expect(links.verify(TARGET, expires, signature, NOW)).toEqual({ requestedBy: 'user-1' })
    for (const other of ['~user-2', '.user-1', '.~user-1', ''])
      expect(links.verify(TARGET, expires, signature.replace('~user-1', other), NOW)).toBeUndefined()
    const both = parse(links.sign({ ...target, tokenId: 'at-1' }, NOW, 60))
    expect(links.verify(TARGET, expires, both.signature, NOW)).toEqual({
      requestedBy: 'user-1',
      tokenId: 'at-1',
    })
  })

  test('hold for their target until they expire', () => {
    expect(links.verify(TARGET, expires, signature, NOW)).toEqual({})
    expect(links.verify(TARGET, expires, signature, later(59))).toEqual({})
    expect(links.verify(TARGET, expires, signature, later(60))).toBeUndefined()
  })

  test.each([
    ['method', { ...TARGET, method: 'GET' as const }],
    ['kind', { ...TARGET, kind: 'shasums' }],
    ['id', { ...TARGET, id: 'provpltfrm-2' }],
    ['kind and id run together', { ...TARGET, kind: 'binaries\nprovpltfrm-1', id: '' }],
  ])('do not hold for another %s', (_, target) => {
    expect(links.verify(target, expires, signature, NOW)).toBeUndefined()
  })

  test.each([
    '9999999999',
    `${Number(expires) + 1}`,
    `0${expires}x`,
    `+${expires}`,
    '',
    'NaN',
    '1e12',
    '9'.repeat(13),
  ])('do not hold until %j instead', (other) => {
    expect(links.verify(TARGET, other, signature, NOW)).toBeUndefined()
  })

  test('do not hold with another signature', () => {
    const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1)
    for (const other of [
      flipped,
      '',
      signature.slice(1),
      `${signature}=`,
      'ä'.repeat(43),
      signature.toUpperCase(),
    ]) {
      expect(links.verify(TARGET, expires, other, NOW)).toBeUndefined()
    }
  })

  test('name the token that they end with, and no other', () => {
    const bound = parse(links.sign({ ...TARGET, tokenId: 'at-1' }, NOW, 60))
    expect(bound.signature).toMatch(/^[\w-]{43}\.at-1$/)
    expect(links.verify(TARGET, bound.expires, bound.signature, NOW)).toEqual({ tokenId: 'at-1' })
    const [digest = ''] = bound.signature.split('.')
    for (const other of [
      digest,
      `${digest}.`,
      `${digest}.at-2`,
      `${bound.signature}.at-1`,
      `${bound.signature}\n`,
      `${signature}.at-1`,
    ]) {
      expect(links.verify(TARGET, expires, other, NOW)).toBeUndefined()
    }
  })

  test('do not hold for a server with another key', () => {
    const others = new Links(Buffer.alloc(32, 2), () => 'https://plinth.example.com')
    const heirs = new Links(Buffer.alloc(32, 2), () => 'https://plinth.example.com', [
      Buffer.alloc(32, 3),
      Buffer.alloc(32, 1),
    ])
    expect(heirs.verify(TARGET, expires, signature, NOW)).toEqual({})
    expect(links.verify(TARGET, expires, parse(heirs.sign(TARGET, NOW, 60)).signature, NOW)).toBeUndefined()
    expect(others.verify(TARGET, expires, signature, NOW)).toBeUndefined()
  })
})
