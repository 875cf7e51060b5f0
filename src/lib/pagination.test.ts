import { describe, expect, test } from 'vitest'
import { AppError } from './errors.ts'
import { PageRequest, paginationMeta } from './pagination.ts'

describe('a page request', () => {
  test.each([
    [undefined, undefined, { number: 1, size: 20, offset: 0 }],
    ['', '', { number: 1, size: 20, offset: 0 }],
    ['3', '10', { number: 3, size: 10, offset: 20 }],
    ['2', '100', { number: 2, size: 100, offset: 100 }],
    ['2', '101', { number: 2, size: 100, offset: 100 }],
    ['999999999', '1', { number: 999_999_999, size: 1, offset: 999_999_998 }],
  ])('of page %j with size %j', (number, size, expected) => {
    const page = new PageRequest(number, size)
    expect({ number: page.number, size: page.size, offset: page.offset }).toEqual(expected)
  })

  test.each(['0', '-1', '1.5', '1e3', ' 1', 'x', '9999999999', '٣'])(
    'of %j fails when it is used',
    (text) => {
      for (const [parameter, read] of [
        ['page[number]', () => new PageRequest(text, '5').number],
        ['page[number]', () => new PageRequest(text, '5').offset],
        ['page[size]', () => new PageRequest('1', text).size],
      ] as const) {
        expect(read).toThrow(AppError)
        expect(read).toThrow(`${parameter} must be a whole number above zero`)
      }
    },
  )
})

describe('the meta data of a page', () => {
  const meta = (number: number, size: number, totalCount: number) =>
    Object.values(paginationMeta({ items: [], number, size, totalCount })).join(' ')

  // current, size, previous, next, pages, items
  test.each([
    [meta(1, 20, 0), '1 20   0 0'],
    [meta(1, 20, 20), '1 20   1 20'],
    [meta(1, 20, 21), '1 20  2 2 21'],
    [meta(2, 20, 21), '2 20 1  2 21'],
    [meta(2, 10, 35), '2 10 1 3 4 35'],
    [meta(5, 10, 35), '5 10 4  4 35'],
    [meta(9, 10, 35), '9 10   4 35'],
  ])('is %j', (actual, expected) => {
    expect(actual).toBe(expected)
  })
})
