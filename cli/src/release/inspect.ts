import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenPgpError, readIssuers, toBinarySignature, verifySignature } from '../../../src/lib/openpgp.ts'
import { parseShasums, ShasumsError } from '../../../src/lib/shasums.ts'
import { readArchives } from './archives.ts'
import { type DocsOptions, readDocs } from './docs.ts'
import { type FindOptions, type FoundRelease, findRelease } from './find.ts'
import { findSigningKey, type NamedKey, readNamedKey } from './keys.ts'
import { readProtocols } from './manifest.ts'
import { nameFindings } from './names.ts'
import type { Finding, Release, SigningKey } from './release.ts'
import { makeShasums, publicHalf, sign } from './sign.ts'

export interface InspectOptions extends FindOptions, DocsOptions {
  protocols?: readonly string[] | undefined
  key?: string | undefined
  /** Makes the list of digests and signs it, instead of reading both. */
  sign?: boolean | undefined
  passphrase?: string | undefined
}

export interface Inspection {
  found: FoundRelease
  findings: Finding[]
  /** Undefined when a finding is an error. */
  release: Release | undefined
}

/**
 * Finds the release in a directory and checks it as the server and clients will, without asking anybody. Nothing is
 * written.
 */
export async function inspectRelease(
  directory: string,
  options: InspectOptions,
  signal: AbortSignal,
): Promise<Inspection> {
  const named = await readNamedKey(options.key)
  const found = await findRelease(directory, options)
  const { docs, findings: ofDocs } = await readDocs(directory, options)
  const findings = [...nameFindings(found), ...ofDocs]
  const list = await readList(found, options.sign === true)
  findings.push(...list.findings)
  if (!list.digests || !list.shasums) return { found, findings, release: undefined }

  const { archives, findings: ofArchives } = await readArchives(found, list.digests, signal)
  const { protocols, findings: ofProtocols } = await readProtocols(found, list.digests, options.protocols)
  findings.push(...ofArchives, ...ofProtocols)
  // Nobody is asked for a passphrase for what will not be published.
  const isWorthSigning = !findings.some(isError)
  const signed = options.sign
    ? isWorthSigning && (await makeSignature(list.shasums, named, options.passphrase))
    : await readSignature(found, list.shasums, named)
  if (!signed) return { found, findings, release: undefined }
  findings.push(...signed.findings)
  const { signature, key } = signed
  if (!signature || findings.some(isError)) return { found, findings, release: undefined }
  const keyId = named.kind === 'id' ? named.keyId : undefined
  const { name, version } = found
  const release = { name, version, protocols, archives, shasums: list.shasums, signature, key, keyId, docs }
  return { found, findings, release }
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}

interface ShasumsList {
  shasums?: Release['shasums']
  digests?: ReadonlyMap<string, string>
  findings: Finding[]
}

async function readList(found: FoundRelease, isMade: boolean): Promise<ShasumsList> {
  const filename = found.shasumsFile ?? `terraform-provider-${found.name}_${found.version}_SHA256SUMS`
  if (!found.shasumsFile && !isMade) {
    const message = 'there is no list of the digests of the archives'
    const fix = 'Add --sign, which makes and signs it, or let goreleaser do so.'
    return { findings: [{ severity: 'error', code: 'shasums-missing', file: filename, message, fix }] }
  }
  const bytes = isMade ? await makeShasums(found) : await readFile(join(found.directory, filename))
  try {
    const digests = parseShasums(bytes.toString('utf8'))
    return { shasums: { filename, bytes }, digests, findings: [] }
  } catch (error) {
    if (!(error instanceof ShasumsError)) throw error
    const fix = 'Make it with sha256sum *.zip, or by --sign, and sign it anew.'
    return {
      findings: [
        { severity: 'error', code: 'shasums-malformed', file: filename, message: error.message, fix },
      ],
    }
  }
}

interface Signed {
  signature?: Release['signature']
  key?: SigningKey | undefined
  findings: Finding[]
}

async function makeSignature(
  shasums: Release['shasums'],
  named: NamedKey,
  passphrase: string | undefined,
): Promise<Signed> {
  const bytes = await sign(shasums.bytes, named, passphrase)
  const signature = { filename: `${shasums.filename}.sig`, bytes }
  const { key, findings } = await findSigningKey(await publicHalf(named), await readIssuers(bytes))
  return { signature, key, findings }
}

async function readSignature(
  found: FoundRelease,
  shasums: Release['shasums'],
  named: NamedKey,
): Promise<Signed> {
  const findings: Finding[] = []
  const filename = signatureFile(found.files, shasums.filename)
  const report = (severity: Finding['severity'], code: string, message: string, fix: string) => {
    findings.push({ severity, code, file: filename ?? `${shasums.filename}.sig`, message, fix })
  }
  const SIGN = `Sign it: gpg --detach-sign ${shasums.filename}`
  if (!filename) {
    report('error', 'signature-missing', 'the list of digests is not signed', `${SIGN} (or add --sign)`)
    return { findings }
  }
  try {
    const file = await readFile(join(found.directory, filename))
    const bytes = await toBinarySignature(file)
    if (!bytes.equals(file)) {
      const message = 'it is ASCII-armored, which clients do not read; it is uploaded in its binary form'
      report('warning', 'signature-armored', message, 'Sign without --armor, or: gpg --dearmor')
    }
    const { key, findings: ofKey } = await findSigningKey(named, await readIssuers(bytes))
    findings.push(...ofKey)
    if (key) await verifySignature(shasums.bytes, bytes, key.armor)
    return { signature: { filename, bytes }, key, findings }
  } catch (error) {
    if (!(error instanceof OpenPgpError)) throw error
    report('error', 'signature-refused', error.message, SIGN)
    return { findings }
  }
}

/** HashiCorp puts the id of the key into the name. */
function signatureFile(files: readonly string[], shasums: string): string | undefined {
  if (files.includes(`${shasums}.sig`)) return `${shasums}.sig`
  return files.find((file) => file.startsWith(`${shasums}.`) && /\.(sig|asc|gpg)$/.test(file))
}
