import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Vault, VaultError } from './vault.ts'

const [first, second] = [randomBytes(32), randomBytes(32)]

test.each(['', 'a', 'ünïcödé ✓', 'x'.repeat(1_000_000)])('texts come back as they were', (text) => {
  const vault = new Vault([first])
  const sealed = vault.seal(text)
  expect(vault.open(sealed)).toBe(text)
  expect(sealed).toMatch(/^sealed:[\w-]+$/)
})

test('the same text looks different each time', () => {
  const vault = new Vault([first])
  expect(vault.seal('secret')).not.toBe(vault.seal('secret'))
})

test('a sealed text with anything changed is refused', () => {
  const vault = new Vault([first])
  const sealed = vault.seal('secret')
  const bytes = Buffer.from(sealed.slice('sealed:'.length), 'base64url')
  for (let place = 0; place < bytes.length; place++) {
    const changed = Buffer.from(bytes)
    changed[place] = (changed[place] as number) ^ 128
    expect(() => vault.open(`sealed:${changed.toString('base64url')}`)).toThrow(VaultError)
  }
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length).toString('base64url')
    expect(() => vault.open(`sealed:${cut}`)).toThrow(VaultError)
  }
  expect(() => vault.open('secret')).toThrow(VaultError)
})

test('an old key opens, the current one seals, and what is sealed anew needs the old one no more', () => {
  const before = new Vault([first])
  const during = new Vault([second, first])
  const after = new Vault([second])
  const sealed = before.seal('secret')
  expect(during.open(sealed)).toBe('secret')
  expect(() => after.open(sealed)).toThrow(/neither the secret key nor an old one/)
  const renewed = during.reseal(sealed) as string
  expect(after.open(renewed)).toBe('secret')
  expect(during.reseal(renewed)).toBeUndefined()
  expect(() => before.open(renewed)).toThrow(VaultError)
  expect(() => after.reseal(sealed)).toThrow(VaultError)
})
