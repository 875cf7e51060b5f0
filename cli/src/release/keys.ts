import { readFile } from 'node:fs/promises'
import { OpenPgpError, readPublicKey } from '../../../src/lib/openpgp.ts'
import { CliError } from '../errors.ts'
import { exportKey } from './gpg.ts'
import type { Finding, SigningKey } from './release.ts'

/** What `--key` names. */
export type NamedKey =
  | { kind: 'none' }
  | { kind: 'id'; keyId: string }
  | { kind: 'file'; file: string; armor: string; isPrivate: boolean }

const KEY_ID = /^(0x)?([0-9a-f]{16}|[0-9a-f]{40})$/i

/** Throws `CliError` when it is neither a file nor the id of a key. */
export async function readNamedKey(named: string | undefined): Promise<NamedKey> {
  if (!named) return { kind: 'none' }
  const armor = await readFile(named, 'utf8').catch(() => undefined)
  if (armor !== undefined) {
    return { kind: 'file', file: named, armor, isPrivate: armor.includes('BEGIN PGP PRIVATE KEY BLOCK') }
  }
  const [, , keyId] = KEY_ID.exec(named) ?? []
  if (keyId) return { kind: 'id', keyId: keyId.toUpperCase() }
  throw new CliError('usage', `--key ${named} is neither a file nor the id of a key`, {
    advice: 'Export the public key with: gpg --armor --export KEYID > public.asc',
  })
}

/** The public key that a release is signed with, as far as this machine knows it. */
export async function findSigningKey(
  named: NamedKey,
  issuers: readonly string[],
): Promise<{ key?: SigningKey; findings: Finding[] }> {
  const [file, armor] =
    named.kind === 'file'
      ? [named.file, named.armor]
      : ['the keyring of gpg', await fromKeyring(named, issuers)]
  if (!armor) return { findings: [] }
  try {
    const key = { armor, ...(await readPublicKey(armor)) }
    return { key, findings: expiryFindings(key, file) }
  } catch (error) {
    if (!(error instanceof OpenPgpError)) throw error
    // What gpg has may be of no use here; the registry may have the right one.
    if (named.kind === 'none') return { findings: [] }
    const fix = 'Export one public key with: gpg --armor --export KEYID > public.asc'
    return { findings: [{ severity: 'error', code: 'key-refused', file, message: error.message, fix }] }
  }
}

async function fromKeyring(named: NamedKey, issuers: readonly string[]): Promise<string | undefined> {
  const keyId = named.kind === 'id' ? named.keyId : issuers[0]
  return keyId ? exportKey(keyId) : undefined
}

function expiryFindings({ keyId, expiresAt }: SigningKey, file: string): Finding[] {
  if (!expiresAt || Date.parse(expiresAt) > Date.now()) return []
  return [
    {
      severity: 'warning',
      code: 'key-expired',
      file,
      message: `key ${keyId} expired on ${expiresAt.slice(0, 10)}; clients will say so`,
      fix: 'Extend it with: gpg --quick-set-expire FINGERPRINT 2y, and register it anew; or sign with another key.',
    },
  ]
}
