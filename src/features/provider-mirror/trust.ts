import { OpenPgpError, readPublicKey, toBinarySignature, verifySignature } from '../../lib/openpgp.ts'
import { OutsideError } from '../../lib/outside.ts'
import type { Offer } from './upstream.ts'

/** What is believed of keys. */
export interface Trust {
  /** Fingerprints that are trusted for every provider. */
  trustedKeys: readonly string[]
  /** Fingerprints that have signed versions of this provider before. */
  knownKeys: readonly string[]
  trustOnFirstUse: boolean
}

/** A key that has signed a version. */
export interface Signer {
  fingerprint: string
  keyId: string
  asciiArmor: string
  trustSignature: string
}

/** Those of the offered keys that have signed the list of digests. Throws an `OutsideError` when none has. */
export async function listSigners(
  keys: Offer['keys'],
  shasums: Buffer,
  signature: Buffer,
): Promise<Signer[]> {
  const reasons: string[] = []
  const signers: Signer[] = []
  for (const { asciiArmor, trustSignature } of keys) {
    try {
      const { fingerprint, keyId } = await readPublicKey(asciiArmor)
      await verifySignature(shasums, signature, asciiArmor)
      signers.push({ fingerprint, keyId, asciiArmor, trustSignature })
    } catch (error) {
      if (!(error instanceof OpenPgpError)) throw error
      reasons.push(error.message)
    }
  }
  if (signers.length > 0) return signers
  const why = reasons.length > 0 ? [...new Set(reasons)].join('; ') : 'the upstream names no key'
  throw new OutsideError('refused', `the signature of its SHA256SUMS does not hold: ${why}`)
}

/** The signature in the form that clients read. Throws an `OutsideError` when it is none. */
export function toSignature(file: Buffer): Promise<Buffer> {
  return toBinarySignature(file).catch((error: unknown) => {
    if (!(error instanceof OpenPgpError)) throw error
    throw new OutsideError('refused', `the signature of its SHA256SUMS cannot be used: ${error.message}`)
  })
}

/** The signer that is believed. Throws an `OutsideError` that names the keys when there is none. */
export function chooseSigner(signers: readonly Signer[], trust: Trust): Signer {
  const { knownKeys, trustedKeys, trustOnFirstUse } = trust
  const believed = signers.find(
    ({ fingerprint }) => trustedKeys.includes(fingerprint) || knownKeys.includes(fingerprint),
  )
  if (believed) return believed
  const [first] = signers
  if (first && trustOnFirstUse && knownKeys.length === 0) return first
  const unknown = signers.map(({ fingerprint }) => fingerprint).join(' and ')
  const others = knownKeys.length > 0 ? `, and earlier versions by ${knownKeys.join(' or ')}` : ''
  throw new OutsideError(
    'refused',
    `it is signed by key ${unknown}, which nobody here trusts${others}. If its author says that the key is theirs, ` +
      'add it to trusted-keys of the organization’s provider mirror',
  )
}
