import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const KEY_ID_BYTES = 8
const NONCE_BYTES = 12

/** Bytes of an authentication tag. */
export const TAG_BYTES = 16

/** Bytes of a wrapped data key: which key wrapped it, nonce, encrypted key, tag. */
export const WRAPPED_BYTES = KEY_ID_BYTES + NONCE_BYTES + KEY_BYTES + TAG_BYTES

const PREFIX = 'sealed:'

/** What was sealed cannot be opened: it was changed, or sealed with a key that the vault does not have. */
export class VaultError extends Error {
  override name = 'VaultError'
}

/**
 * Seals what must not be readable where it is stored: AES-256-GCM with a data key of its own for each object,
 * which is wrapped with the vault's key. The first of the vault's keys seals, all of them open: a key that was
 * replaced stays among them until everything is sealed anew.
 */
export class Vault {
  readonly #keys: Map<string, Buffer>
  readonly #current: { id: Buffer; key: Buffer }

  /** `keys` are of 32 bytes, the current one first. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = new Map(keys.map((key) => [idOf(key).toString('hex'), key]))
    this.#current = { id: idOf(keys[0]), key: keys[0] }
  }

  /** Seals a text, such as the value of a variable. */
  seal(text: string): string {
    const { key, wrapped } = this.newDataKey()
    return PREFIX + Buffer.concat([wrapped, encrypt(key, Buffer.from(text))]).toString('base64url')
  }

  /** The text that was sealed. Throws `VaultError`. */
  open(sealed: string): string {
    const bytes = this.#bytesOf(sealed)
    const key = this.unwrap(bytes.subarray(0, WRAPPED_BYTES))
    return decrypt(key, bytes.subarray(WRAPPED_BYTES)).toString()
  }

  /** The same sealed text under the current key; undefined when it is already. */
  reseal(sealed: string): string | undefined {
    const bytes = this.#bytesOf(sealed)
    const wrapped = this.rewrap(bytes.subarray(0, WRAPPED_BYTES))
    return wrapped && PREFIX + Buffer.concat([wrapped, bytes.subarray(WRAPPED_BYTES)]).toString('base64url')
  }

  /** A key for one object, and the same wrapped, to be stored with the object. */
  newDataKey(): { key: Buffer; wrapped: Buffer } {
    const key = randomBytes(KEY_BYTES)
    return { key, wrapped: this.#wrap(key) }
  }

  /** The data key that was wrapped. Throws `VaultError`. */
  unwrap(wrapped: Buffer): Buffer {
    const id = wrapped.subarray(0, KEY_ID_BYTES).toString('hex')
    const key = this.#keys.get(id)
    if (!key)
      throw new VaultError(`sealed with the key ${id}, which is neither the secret key nor an old one`)
    return decrypt(key, wrapped.subarray(KEY_ID_BYTES))
  }

  /** The same data key wrapped with the current key; undefined when it is already. */
  rewrap(wrapped: Buffer): Buffer | undefined {
    if (wrapped.subarray(0, KEY_ID_BYTES).equals(this.#current.id)) return undefined
    return this.#wrap(this.unwrap(wrapped))
  }

  #wrap(key: Buffer): Buffer {
    return Buffer.concat([this.#current.id, encrypt(this.#current.key, key)])
  }

  #bytesOf(sealed: string): Buffer {
    if (!sealed.startsWith(PREFIX)) throw new VaultError('not a sealed text')
    return Buffer.from(sealed.slice(PREFIX.length), 'base64url')
  }
}

function idOf(key: Buffer): Buffer {
  return createHash('sha256').update('plinth vault key ').update(key).digest().subarray(0, KEY_ID_BYTES)
}

/** Nonce, encrypted bytes, tag. */
function encrypt(key: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  return openPart(key, nonce, sealed.subarray(NONCE_BYTES))
}

/** Encrypts one part of an object; no two parts of a key have the same nonce (12 bytes). The tag follows. */
export function sealPart(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** The reverse of `sealPart`. Throws `VaultError` when the bytes, or their place, are not as they were sealed. */
export function openPart(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < TAG_BYTES) throw new VaultError('what was sealed ends too soon')
  const decipher = createDecipheriv(ALGORITHM, key, nonce)
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()])
  } catch (cause) {
    throw new VaultError('what was sealed has been changed', { cause })
  }
}
