import { describe, expect, test } from 'vitest'
import { entries, Message, message } from './wire.ts'

describe('a protocol buffers message', () => {
  // The examples of https://protobuf.dev/programming-guides/encoding.
  test.each([
    ['a number', message({ 1: 150 }), '089601'],
    ['a text', message({ 2: 'testing' }), '120774657374696e67'],
    ['a message', message({ 3: message({ 1: 150 }) }), '1a03089601'],
    ['repeated texts', message({ 5: ['a', '', 'b'] }), '2a01612a002a0162'],
    ['a map', message({ 7: entries({ k: 'v' }) }), '3a060a016b120176'],
    ['a number of more than 32 bits', message({ 1: 2 ** 40 }), '08808080808020'],
    ['a field with a long number', message({ 100: true }), 'a00601'],
    ['what is absent by its value', message({ 1: 0, 2: '', 3: false, 4: undefined, 5: [] }), ''],
    ['a message that is there and empty', message({ 1: message({}) }), '0a00'],
  ])('writes %s', (_name, bytes, hex) => {
    expect(bytes.toString('hex')).toBe(hex)
  })

  test('reads its fields in any order, and 0 or nothing where there is none', () => {
    const read = new Message(
      message({ 9: 'é', 1: 2 ** 40, 4: message({ 2: Buffer.from([0, 255]) }), 200: true }),
    )
    expect(read.text(9)).toBe('é')
    expect(read.integer(1)).toBe(2 ** 40)
    expect(read.message(4).bytes(2)).toEqual(Buffer.from([0, 255]))
    expect(read.integer(200)).toBe(1)
    expect([read.text(3), read.integer(3), read.bytes(3), read.message(3).text(1)]).toEqual([
      '',
      0,
      Buffer.alloc(0),
      '',
    ])
  })

  test('passes over fields of fixed size', () => {
    expect(new Message(Buffer.from('0901020304050607081501020304180a', 'hex')).integer(3)).toBe(10)
  })

  test('refuses what is cut off or has an unknown type', () => {
    expect(() => new Message(Buffer.from('120774', 'hex'))).toThrow('ends too early')
    expect(() => new Message(Buffer.from('0896', 'hex'))).toThrow('ends too early')
    expect(() => new Message(Buffer.from('0b', 'hex'))).toThrow('wire type 3')
  })
})
