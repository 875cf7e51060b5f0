import { ByteReader } from './bytes.ts'

// As much of protocol buffers (https://protobuf.dev/programming-guides/encoding) as the provider speaks. A message
// is built and read by its field numbers; the names beside them in the .proto files never travel.

/** A field's value: a number is a varint, bytes are also an embedded message; a list is a repeated field. */
export type Field = string | number | boolean | Uint8Array | readonly Field[] | undefined

const VARINT = 0
const FIXED64 = 1
const LENGTH_DELIMITED = 2
const FIXED32 = 5

/** A message of `fields` by number. What proto3 takes for absent (`''`, 0, false) is left out. */
export function message(fields: Record<number, Field>): Buffer {
  const parts = Object.entries(fields).flatMap(([number, value]) => {
    const isDefault = value === '' || value === 0 || value === false
    return isDefault ? [] : [field(Number(number), value)]
  })
  return Buffer.concat(parts)
}

/** The entries of a `map<string, …>` field. */
export function entries(values: Record<string, Field>): Buffer[] {
  return Object.entries(values).map(([key, value]) => message({ 1: key, 2: value }))
}

function field(number: number, value: Field): Buffer {
  if (value === undefined) return Buffer.alloc(0)
  if (Array.isArray(value)) return Buffer.concat(value.map((element) => field(number, element)))
  if (typeof value === 'number' || typeof value === 'boolean') {
    return Buffer.concat([varint((number << 3) | VARINT), varint(Number(value))])
  }
  const bytes = Buffer.from(value as string | Uint8Array)
  return Buffer.concat([varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  // By division, since the bit operators cut to 32 bits.
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** A message as it came, its fields asked for by number. The last of several values counts. */
export class Message {
  readonly #fields = new Map<number, number | Buffer>()

  constructor(bytes: Buffer) {
    const reader = new ByteReader(bytes)
    while (!reader.isAtEnd) {
      const tag = readVarint(reader)
      this.#fields.set(Math.floor(tag / 8), readValue(reader, tag % 8))
    }
  }

  /** The text of a string field, `''` if it is absent. */
  text(number: number): string {
    return this.bytes(number).toString()
  }

  /** The content of a bytes field, empty if it is absent. */
  bytes(number: number): Buffer {
    const value = this.#fields.get(number)
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
  }

  /** An embedded message, empty if it is absent. */
  message(number: number): Message {
    return new Message(this.bytes(number))
  }

  /** The value of an integer, enumeration or bool field, 0 if it is absent. */
  integer(number: number): number {
    const value = this.#fields.get(number)
    return typeof value === 'number' ? value : 0
  }
}

function readValue(reader: ByteReader, wireType: number): number | Buffer {
  if (wireType === VARINT) return readVarint(reader)
  if (wireType === LENGTH_DELIMITED) return reader.take(readVarint(reader))
  if (wireType === FIXED64) return reader.take(8)
  if (wireType === FIXED32) return reader.take(4)
  throw new Error(`wire type ${wireType} of protocol buffers is not known`)
}

function readVarint(reader: ByteReader): number {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.unsigned(1)
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
  }
}
