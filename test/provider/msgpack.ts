import { ByteReader } from './bytes.ts'
import { UNKNOWN, type Value, type Values } from './values.ts'

// As much of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) as Terraform's values need,
// by the rules of docs/plugin-protocol/object-wire-format.md in hashicorp/terraform.

/** Any extension stands for an unknown value; this is the one without refinements. */
const UNKNOWN_BYTES = Buffer.from([0xd4, 0, 0])

export function encode(value: Value): Buffer {
  if (value === UNKNOWN) return UNKNOWN_BYTES
  if (value === null) return Buffer.from([0xc0])
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2])
  if (typeof value === 'number') return encodeNumber(value)
  if (typeof value === 'string') return encodeText(value)
  if (Array.isArray(value)) return Buffer.concat([head(value.length, 0x90, 0xdc), ...value.map(encode)])
  const names = Object.keys(value)
  const pairs = names.flatMap((name) => [encodeText(name), encode(value[name] ?? null)])
  return Buffer.concat([head(names.length, 0x80, 0xde), ...pairs])
}

function encodeNumber(value: number): Buffer {
  // Terraform counts in decimals: 0.1 as a float would differ from the 0.1 of the configuration.
  if (!Number.isSafeInteger(value)) return encodeText(String(value))
  if (value >= 0 && value < 0x80) return Buffer.from([value])
  const bytes = Buffer.from([0xd3, 0, 0, 0, 0, 0, 0, 0, 0])
  bytes.writeBigInt64BE(BigInt(value), 1)
  return bytes
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text)
  const { length } = bytes
  if (length < 32) return Buffer.concat([Buffer.from([0xa0 | length]), bytes])
  return Buffer.concat([sized(length, 0xda), bytes])
}

/** What precedes the elements of an array or a map: one byte for up to fifteen of them. */
function head(count: number, fixed: number, counted: number): Buffer {
  return count < 16 ? Buffer.from([fixed | count]) : sized(count, counted)
}

/** A format with its size in two bytes, or the next format with its size in four. */
function sized(size: number, format: number): Buffer {
  const isShort = size < 0x1_0000
  const bytes = Buffer.alloc(isShort ? 3 : 5)
  bytes.writeUInt8(isShort ? format : format + 1)
  bytes.writeUIntBE(size, 1, isShort ? 2 : 4)
  return bytes
}

export function decode(bytes: Buffer): Value {
  const reader = new ByteReader(bytes)
  const value = read(reader)
  if (!reader.isAtEnd) throw new Error('there is more than one MessagePack value')
  return value
}

function read(reader: ByteReader): Value {
  const format = reader.unsigned(1)
  if (format < 0x80) return format
  if (format < 0x90) return readMap(reader, format & 0x0f)
  if (format < 0xa0) return readArray(reader, format & 0x0f)
  if (format < 0xc0) return readText(reader, format & 0x1f)
  if (format >= 0xe0) return format - 0x100
  const readFormat = FORMATS[format]
  if (!readFormat) throw new Error(`MessagePack format 0x${format.toString(16)} is not known`)
  return readFormat(reader)
}

/** How to read what follows each first byte that says nothing more than the format. */
const FORMATS: Record<number, (reader: ByteReader) => Value> = {
  192: () => null,
  194: () => false,
  195: () => true,
  ...bySize(0xc4, [1, 2, 4], (reader, size) => readText(reader, reader.unsigned(size))),
  ...bySize(0xc7, [1, 2, 4], (reader, size) => readExtension(reader, reader.unsigned(size))),
  202: (reader) => reader.take(4).readFloatBE(),
  203: (reader) => reader.take(8).readDoubleBE(),
  ...bySize(0xcc, [1, 2, 4], (reader, size) => reader.unsigned(size)),
  207: (reader) => Number(reader.take(8).readBigUInt64BE()),
  ...bySize(0xd0, [1, 2, 4], (reader, size) => reader.take(size).readIntBE(0, size)),
  211: (reader) => Number(reader.take(8).readBigInt64BE()),
  ...bySize(0xd4, [1, 2, 4, 8, 16], readExtension),
  ...bySize(0xd9, [1, 2, 4], (reader, size) => readText(reader, reader.unsigned(size))),
  ...bySize(0xdc, [2, 4], (reader, size) => readArray(reader, reader.unsigned(size))),
  ...bySize(0xde, [2, 4], (reader, size) => readMap(reader, reader.unsigned(size))),
}

/** Neighbouring formats that differ in a size only. */
function bySize(first: number, sizes: number[], readSized: (reader: ByteReader, size: number) => Value) {
  return Object.fromEntries(
    sizes.map((size, index) => [first + index, (reader: ByteReader) => readSized(reader, size)]),
  )
}

function readArray(reader: ByteReader, length: number): Value[] {
  return Array.from({ length }, () => read(reader))
}

function readMap(reader: ByteReader, length: number): Values {
  return Object.fromEntries(Array.from({ length }, () => [String(read(reader)), read(reader)]))
}

function readText(reader: ByteReader, length: number): string {
  return reader.take(length).toString()
}

function readExtension(reader: ByteReader, length: number): typeof UNKNOWN {
  reader.take(1 + length)
  return UNKNOWN
}
