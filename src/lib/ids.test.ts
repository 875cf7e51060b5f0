import { expect, test } from 'vitest'
import { newId, newNumericId, newSecret } from './ids.ts'

test('ids have a prefix and 16 characters that nobody mistakes for others', () => {
  const ids = new Set(Array.from({ length: 1000 }, () => newId('ws')))
  expect(ids.size).toBe(1000)
  for (const id of ids) expect(id).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/)
})

test('every character is as likely as the others', () => {
  const counts = new Map<string, number>()
  for (let n = 0; n < 4000; n++) {
    for (const letter of newId('x').slice(2)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  expect(counts.size).toBe(58)
  // 64,000 characters: 1,103 of each, give or take six times the standard deviation of 33.
  for (const count of counts.values()) expect(Math.abs(count - 64_000 / 58)).toBeLessThan(200)
})

test('secrets are long and recognisable', () => {
  expect(newSecret()).toMatch(/^plinth_[1-9A-HJ-NP-Za-km-z]{44}$/)
  expect(newSecret()).not.toBe(newSecret())
})

test('numeric ids are whole numbers that JavaScript and Go read alike', () => {
  for (let n = 0; n < 100; n++) {
    const id = newNumericId()
    expect(id).toMatch(/^[1-9]\d*$/)
    expect(Number(id)).toBeLessThan(2 ** 48)
  }
})
