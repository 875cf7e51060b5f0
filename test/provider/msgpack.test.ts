import { deepStrictEqual } from 'node:assert'
import { describe, expect, test } from 'vitest'
import { decode, encode } from './msgpack.ts'
import { UNKNOWN, type Value } from './values.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const repeat = (value: Value, length: number): Value => Array.from({ length }, () => value)
const keys = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, index]))

describe('MessagePack', () => {
  test.each<[string, string, Value]>([
    ['nil', 'c0', null],
    ['false', 'c2', false],
    ['true', 'c3', true],
    ['positive fixint', '7f', 127],
    ['negative fixint', 'e0', -32],
    ['uint 8', 'cc ff', 255],
    ['uint 16', 'cd 0100', 256],
    ['uint 32', 'ce ffffffff', 2 ** 32 - 1],
    ['uint 64', 'cf 0000010000000000', 2 ** 40],
    ['int 8', 'd0 80', -128],
    ['int 16', 'd1 8000', -(2 ** 15)],
    ['int 32', 'd2 80000000', -(2 ** 31)],
    ['int 64', 'd3 ffffff0000000000', -(2 ** 40)],
    ['float 32', 'ca 3fc00000', 1.5],
    ['float 64', 'cb 3fb999999999999a', 0.1],
    ['fixstr', 'a2 c3a9', 'é'],
    ['str 8', 'd9 01 61', 'a'],
    ['str 16', 'da 0001 61', 'a'],
    ['str 32', 'db 00000001 61', 'a'],
    ['bin 8', 'c4 01 61', 'a'],
    ['fixarray', '92 01 c0', [1, null]],
    ['array 16', 'dc 0001 c3', [true]],
    ['array 32', 'dd 00000001 c3', [true]],
    ['fixmap', '81 a1 61 80', { a: {} }],
    ['map 16', 'de 0001 a1 61 01', { a: 1 }],
    ['map 32', 'df 00000001 a1 61 01', { a: 1 }],
    ['fixext 1, an unknown value', '92 d4 00 00 01', [UNKNOWN, 1]],
    ['fixext 16', '92 d8 0c 00112233445566778899aabbccddeeff 01', [UNKNOWN, 1]],
    ['ext 8, an unknown value with refinements', '92 c7 03 0c 8101c2 01', [UNKNOWN, 1]],
  ])('reads %s', (_name, bytes, value) => {
    expect(decode(hex(bytes))).toEqual(value)
  })

  test.each<[string, Value]>([
    ['a small number', 0],
    ['a large number', 2 ** 53 - 1],
    ['a negative number', -1],
    ['texts around the sizes of each format', ['x'.repeat(31), 'x'.repeat(32), 'x'.repeat(65_536)]],
    ['lists around the sizes of each format', [repeat(1, 15), repeat(null, 16), repeat(true, 65_536)]],
    ['maps around the sizes of each format', [keys(15), keys(16), keys(65_536)]],
    ['what is unknown in an object', { id: UNKNOWN, name: 'é', tags: null, more: [{ a: false }] }],
  ])('reads back %s', (_name, value) => {
    // Vitest takes half a second to compare so many values.
    deepStrictEqual(decode(encode(value)), value)
  })

  test('writes a broken number as the decimals that it was given in', () => {
    expect(decode(encode([0.1, 1e300]))).toEqual(['0.1', '1e+300'])
  })

  test('refuses what is cut off, goes on, or is no format', () => {
    expect(() => decode(hex('a2 61'))).toThrow('ends too early')
    expect(() => decode(hex('c0 c0'))).toThrow('more than one')
    expect(() => decode(hex('c1'))).toThrow('0xc1')
  })
})
