import type { Key, Signature } from 'openpgp'
import { timestamp } from './time.ts'

/** Says, for the person who uploaded it, why a key or a signature is not accepted. */
export class OpenPgpError extends Error {
  override name = 'OpenPgpError'
}

export interface PublicKey {
  /** Low 64 bits of the fingerprint, upper-case hexadecimal. */
  keyId: string
  /** Of the primary key, upper-case hexadecimal. */
  fingerprint: string
  /** When it can no longer be used to sign, as ISO 8601 with milliseconds in UTC; null for never. */
  expiresAt: string | null
}

/** OpenPGP.js checks nothing against the clock when it is given null: a key that expired still verifies. */
const ANY_TIME = null as unknown as Date

/** Loaded when first needed: it is a tenth of the server's start. */
const load = () => import('openpgp')

/**
 * Checks that `armor` is one usable public signing key. Throws `OpenPgpError` with the reason: a private
 * key, several keys, a revoked one, one that cannot sign, or no key at all.
 */
export async function readPublicKey(armor: string): Promise<PublicKey> {
  if (/-----BEGIN PGP PRIVATE KEY/.test(armor)) {
    throw new OpenPgpError(
      'this is a private key; upload the public key (gpg --armor --export) and keep this one secret',
    )
  }
  if ((armor.match(/-----BEGIN PGP /g) ?? []).length !== 1) {
    throw new OpenPgpError('it must be exactly one ASCII-armored public key block')
  }
  const key = await onlyKey(armor)
  if (key.keyPacket.version !== 4) throw new OpenPgpError('only OpenPGP version 4 keys can be used')
  if (await key.isRevoked()) throw new OpenPgpError('the key is revoked')
  await key.getSigningKey(undefined, ANY_TIME).catch((error: Error) => {
    throw new OpenPgpError(`the key cannot be used to verify signatures (${reasonOf(error)})`)
  })
  const fingerprint = key.getFingerprint().toUpperCase()
  return { fingerprint, keyId: fingerprint.slice(-16), expiresAt: await expiryOf(key) }
}

/** When the public key in `armor` can no longer be used to sign; null for never, and for what cannot be read. */
export async function readExpiry(armor: string): Promise<string | null> {
  const key = await onlyKey(armor).catch((error: unknown) => {
    if (!(error instanceof OpenPgpError)) throw error
    return undefined
  })
  return key ? expiryOf(key) : null
}

/** The fingerprint of the one public key in `armor`, upper-case hexadecimal. */
export async function readFingerprint(armor: string): Promise<string> {
  return (await onlyKey(armor)).getFingerprint().toUpperCase()
}

/** The primary key ends all of its subkeys; before that, those that sign end one after another. */
async function expiryOf(key: Key): Promise<string | null> {
  const primary = (await key.getExpirationTime()) ?? Number.POSITIVE_INFINITY
  let signing = Number.NEGATIVE_INFINITY
  for (const part of [key, ...key.getSubkeys()]) {
    const signs = await key.getSigningKey(part.getKeyID(), ANY_TIME).then(
      () => true,
      () => false,
    )
    if (!signs) continue
    const expiry = part === key ? primary : ((await part.getExpirationTime()) ?? Number.POSITIVE_INFINITY)
    signing = Math.max(signing, Number(expiry))
  }
  const expiry = Math.min(Number(primary), signing)
  return Number.isFinite(expiry) ? timestamp(new Date(expiry)) : null
}

async function onlyKey(armor: string): Promise<Key> {
  const { readKeys } = await load()
  const keys = await readKeys({ armoredKeys: armor }).catch((error: Error) => {
    throw new OpenPgpError(`it is not an ASCII-armored public key block (${reasonOf(error)})`)
  })
  const [key, ...others] = keys
  if (!key) throw new OpenPgpError('the block has no key in it')
  if (others.length > 0)
    throw new OpenPgpError(`the block has ${keys.length} primary keys; upload each on its own`)
  if (key.isPrivate()) throw new OpenPgpError('this is a private key; upload the public key')
  return key
}

/**
 * A detached signature in its binary form, which is what clients verify; an armored one is unwrapped without
 * changing a byte. Throws `OpenPgpError` when it is none.
 */
export async function toBinarySignature(bytes: Buffer): Promise<Buffer> {
  const { readSignature, unarmor, enums } = await load()
  const text = bytes.toString('latin1')
  try {
    let binary = bytes
    if (text.trimStart().startsWith('-----BEGIN PGP ')) {
      const { type, data } = await unarmor(text.trimStart())
      if (type !== enums.armor.signature) throw new Error('the armor does not hold a detached signature')
      // Typed as a stream, but the data of a string comes at once.
      binary = Buffer.from(data as unknown as Uint8Array)
    }
    const { packets } = await readSignature({ binarySignature: binary })
    if (packets.length === 0) throw new Error('no signature packet')
    return binary
  } catch (error) {
    throw new OpenPgpError(`it is not a detached OpenPGP signature (${reasonOf(error as Error)})`)
  }
}

/** The ids of the keys that `signature` says it was made with, upper-case hexadecimal. */
export async function readIssuers(signature: Buffer): Promise<string[]> {
  return (await parse(signature)).getSigningKeyIDs().map((id) => id.toHex().toUpperCase())
}

/** Whether one of the keys that `signature` says it was made with belongs to `armor`. */
export async function isIssuedBy(signature: Buffer, armor: string): Promise<boolean> {
  const key = await onlyKey(armor)
  const ids = new Set(key.getKeyIDs().map((id) => id.toHex()))
  return (await parse(signature)).getSigningKeyIDs().some((id) => ids.has(id.toHex()))
}

/** Throws `OpenPgpError` unless the binary `signature` over `data` was made by the key in `armor`. */
export async function verifySignature(data: Buffer, signature: Buffer, armor: string): Promise<void> {
  const { createMessage, verify } = await load()
  const { signatures } = await verify({
    message: await createMessage({ binary: new Uint8Array(data) }),
    signature: await parse(signature),
    verificationKeys: await onlyKey(armor),
    date: ANY_TIME,
  })
  const results = await Promise.allSettled(signatures.map((result) => result.verified))
  if (results.some((result) => result.status === 'fulfilled')) return
  const failure = results.find((result) => result.status === 'rejected')
  throw new OpenPgpError(reasonOf(failure?.reason as Error))
}

async function parse(signature: Buffer): Promise<Signature> {
  const { readSignature } = await load()
  return readSignature({ binarySignature: new Uint8Array(signature) })
}

function reasonOf(error: Error | undefined): string {
  return (error?.message ?? 'no signature').replace(/^Error [a-z ]+: /i, '')
}
