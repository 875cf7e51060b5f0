import { randomFillSync, randomInt } from 'node:crypto'

/** Base58: no 0, O, I or l, so that an id can be read aloud and typed. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** A prefixed identifier such as `rtk-6XYzQ…`: the prefix and 16 random base58 characters (94 bits). */
export function newId(prefix: string): string {
  return `${prefix}-${randomBase58(16)}`
}

/** A decimal identifier as a string, for the resources whose public ids are numbers. */
export function newNumericId(): string {
  return String(randomInt(1, 2 ** 48 - 1))
}

/** A bearer secret with 256 bits of randomness; the prefix lets secret scanners recognise it. */
export function newSecret(): string {
  return `plinth_${randomBase58(44)}`
}

function randomBase58(length: number): string {
  let text = ''
  while (text.length < length) {
    const byte = randomByte()
    // 232 = 4 × 58: bytes above it are dropped so that every character is equally likely.
    if (byte < 232) text += ALPHABET[byte % 58]
  }
  return text
}

/** Asking for randomness costs far more than using it, so it is fetched in stock; each byte is used once. */
const stock = Buffer.alloc(4096)
let used = stock.length

function randomByte(): number {
  if (used === stock.length) {
    randomFillSync(stock)
    used = 0
  }
  const byte = stock[used] as number
  stock[used++] = 0
  return byte
}
