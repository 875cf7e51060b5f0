import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { OutsideError } from '../../lib/outside.ts'
import { parseShasums, ShasumsError } from '../../lib/shasums.ts'
import * as quotas from '../registry-quotas/service.ts'
import { type Address, spell } from './addresses.ts'
import { attempt, failureOf, requireListed } from './attempts.ts'
import { getListing } from './listings.ts'
import type { OrganizationMirror } from './service.ts'
import type { ListedPackage, MirroredVersion } from './store.ts'
import * as store from './store.ts'
import { chooseSigner, listSigners, type Signer, toSignature } from './trust.ts'
import type { ListedVersion, Offer, Platform } from './upstream.ts'
import * as upstream from './upstream.ts'

/** A version that was verified, and its platforms. */
export interface Release {
  version: MirroredVersion
  packages: ListedPackage[]
}

/** What is asked for when the upstream does not say which platforms there are. */
const COMMON: Platform = { os: 'linux', arch: 'amd64' }

/** Platforms that are asked for one by one, because their files have names of their own. */
const MAX_ODD_NAMES = 40

/** A version of a provider on the list: as it was kept, or as the upstream has it if that can be verified. */
export async function getRelease(
  ctx: Ctx,
  mirror: OrganizationMirror,
  address: Address,
  wanted: { version: string; platform?: Platform },
  signal: AbortSignal,
): Promise<Release> {
  requireListed(mirror, address)
  const { id: organizationId } = mirror.organization
  const { version } = wanted
  const kept = await findRelease(ctx, organizationId, address, version)
  if (kept) {
    ctx.metrics.mirrorAsked('release', 'kept')
    return kept
  }
  const { versions } = await getListing(ctx, mirror, address, signal)
  const listed = versions.find((each) => each.version === version)
  if (!listed)
    throw new AppError('notFound', `The upstream of ${spell(address)} lists no version ${version}.`)
  const fetched = { what: 'release', organizationId, address, part: version } as const
  const asked = { ...listed, first: wanted.platform ?? listed.platforms[0] ?? COMMON }
  await attempt(ctx, fetched, signal, (ending) => fetchRelease(ctx, mirror, address, asked, ending)).catch(
    (error: unknown) => {
      throw failureOf(error, address)
    },
  )
  return (await findRelease(ctx, organizationId, address, version)) as Release
}

async function findRelease(
  ctx: Ctx,
  organizationId: string,
  address: Address,
  version: string,
): Promise<Release | undefined> {
  const provider = await store.findProvider(ctx.db, organizationId, address)
  const found = provider && (await store.findVersion(ctx.db, provider.id, version))
  return found && { version: found, packages: await store.listPackages(ctx.db, found.id) }
}

type Asked = ListedVersion & { first: Platform }

/** Nothing is kept before the signature was verified. */
async function fetchRelease(
  ctx: Ctx,
  mirror: OrganizationMirror,
  address: Address,
  asked: Asked,
  signal: AbortSignal,
): Promise<void> {
  // Whoever looked a moment before somebody else had fetched it comes here after that.
  if (await findRelease(ctx, mirror.organization.id, address, asked.version)) return
  const offer = await upstream.getOffer(ctx, address, asked.version, asked.first, signal)
  const [shasums, file] = await Promise.all([
    upstream.readFile(ctx, offer.shasumsUrl, signal),
    upstream.readFile(ctx, offer.signatureUrl, signal),
  ])
  const signature = await toSignature(file)
  const signers = await listSigners(offer.keys, shasums, signature)
  const digests = digestsOf(shasums)
  requireDigest(digests, offer)
  const platforms = await listPlatforms(ctx, address, { asked, offer, digests }, signal)
  await keepRelease(ctx, mirror, address, { asked, offer, signers, shasums, signature, platforms })
}

function digestsOf(shasums: Buffer): Map<string, string> {
  try {
    return parseShasums(shasums.toString('utf8'))
  } catch (error) {
    if (!(error instanceof ShasumsError)) throw error
    throw new OutsideError('refused', `its SHA256SUMS cannot be used: ${error.message}`)
  }
}

function requireDigest(digests: Map<string, string>, { filename, shasum }: Offer): void {
  const listed = digests.get(filename)
  if (listed === shasum) return
  const told = listed ? `lists ${listed} for ${filename}` : `does not list ${filename}`
  throw new OutsideError('refused', `its signed SHA256SUMS ${told}, and the registry says ${shasum}`)
}

type VerifiedPlatform = Platform & { filename: string; shasum: string }

/** Those that the signed list has, under the names that all registries use or those that this one tells. */
async function listPlatforms(
  ctx: Ctx,
  address: Address,
  { asked, offer, digests }: { asked: Asked; offer: Offer; digests: Map<string, string> },
  signal: AbortSignal,
): Promise<VerifiedPlatform[]> {
  const { filename, shasum } = offer
  const found = new Map([[nameOf(asked.first), { ...asked.first, filename, shasum }]])
  const usual = `terraform-provider-${address.name}_${asked.version}_`
  for (const [filename, shasum] of digests) {
    const [, os = '', arch = ''] = /^([a-z0-9]+)_([a-z0-9]+)\.zip$/.exec(filename.slice(usual.length)) ?? []
    if (!filename.startsWith(usual) || !os || found.has(nameOf({ os, arch }))) continue
    found.set(nameOf({ os, arch }), { os, arch, filename, shasum })
  }
  const odd = asked.platforms.filter((platform) => !found.has(nameOf(platform))).slice(0, MAX_ODD_NAMES)
  for (const platform of odd) {
    const { filename, shasum } = await upstream.getOffer(ctx, address, asked.version, platform, signal)
    if (digests.get(filename) === shasum) found.set(nameOf(platform), { ...platform, filename, shasum })
  }
  return [...found.values()]
}

function nameOf({ os, arch }: Platform): string {
  return `${os}_${arch}`
}

interface Verified {
  asked: Asked
  offer: Offer
  signers: Signer[]
  shasums: Buffer
  signature: Buffer
  platforms: VerifiedPlatform[]
}

async function keepRelease(
  ctx: Ctx,
  mirror: OrganizationMirror,
  address: Address,
  found: Verified,
): Promise<void> {
  const { shasums, signature } = found
  const files = await Promise.all(
    [shasums, signature].map((bytes) => ctx.blobs.stage(oncePiece(bytes), bytes.length)),
  )
  await inTransaction(ctx, async (tx) => {
    const { id: organizationId } = mirror.organization
    const known = await store.findProvider(tx.db, organizationId, address)
    const provider = known && (await store.lockProvider(tx.db, known.id))
    // It was removed in the meantime, or another server was first.
    if (!provider || (await store.findVersion(tx.db, provider.id, found.asked.version))) return
    const knownKeys: string[] = JSON.parse(provider.keyFingerprints)
    const signer = chooseSigner(found.signers, { ...mirror, knownKeys })
    const id = newId('mver')
    await quotas.claimRoom(tx, organizationId, shasums.length + signature.length)
    const keys = ['shasums', 'signature'].map((kind) => `mirror/${id}/${kind}`) as [string, string]
    for (const [index, staged] of files.entries()) await keep(tx.db, keys[index] as string, staged, tx.now())
    await store.insertVersion(
      tx.db,
      versionRow(tx, { id, providerId: provider.id, keys, signer, found }),
      found.platforms.map((platform) => packageRow(id, platform)),
    )
    const keyFingerprints = JSON.stringify([...new Set([...knownKeys, signer.fingerprint])])
    await store.updateProvider(tx.db, provider.id, { keyFingerprints })
  }).finally(() => Promise.all(files.map((staged) => staged.discard())))
}

async function* oncePiece(bytes: Buffer) {
  yield bytes
}

interface VersionParts {
  id: string
  providerId: string
  keys: [string, string]
  signer: Signer
  found: Verified
}

function versionRow(tx: Ctx, { id, providerId, keys, signer, found }: VersionParts) {
  const { asked, offer } = found
  const [shasumsBlob, signatureBlob] = keys
  return {
    id,
    providerId,
    version: asked.version,
    protocols: JSON.stringify(offer.protocols),
    keyId: signer.keyId,
    asciiArmor: signer.asciiArmor,
    trustSignature: signer.trustSignature,
    shasumsBlob,
    signatureBlob,
    createdAt: tx.now(),
  }
}

function packageRow(versionId: string, platform: VerifiedPlatform) {
  const unfetched = { packageHash: null, archiveBlob: null, fetchedAt: null }
  return { ...platform, ...unfetched, id: newId('mpkg'), versionId }
}
