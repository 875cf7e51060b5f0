import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { authorize } from '../../auth/authorize.ts'
import type { StagedBlob } from '../../blobs/blob-store.ts'
import { isUploaded } from '../../blobs/files.ts'
import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { isIssuedBy, OpenPgpError, toBinarySignature, verifySignature } from '../../lib/openpgp.ts'
import { parseShasums, ShasumsError } from '../../lib/shasums.ts'
import * as quotas from '../registry-quotas/service.ts'
import { publishIfComplete } from './lifecycle.ts'
import type { PlatformFile, RegistryProviderVersion, VersionOwner } from './store.ts'
import * as store from './store.ts'

/** Both files are small; anything larger is the wrong file. */
export const MAX_BYTES = 65_536

/** Where a version keeps its files. */
export type ReleaseFile = 'shasumsBlob' | 'signatureBlob'

/**
 * Lets a file be sent that an upload link names: whoever the link was made for may still publish the provider (404),
 * and there is room for it (413).
 */
export async function expectFile(ctx: Ctx, id: string, file: ReleaseFile, bytes: number | undefined) {
  const version = await getLinked(ctx, id)
  const provider = await ownerOf(ctx, id)
  await authorize(ctx, 'registry-provider-versions:manage', provider.organizationId, provider.id)
  if (version[file] === null) await quotas.requireRoom(ctx, provider.organizationId, bytes)
}

/** The version that a signed link names; 404 when it is gone. The link is the permission. */
export async function getLinked(ctx: Ctx, id: string): Promise<RegistryProviderVersion> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  return version
}

/** The same for its files: what was revoked is not given to anybody. */
export async function getDownloadable(ctx: Ctx, id: string): Promise<RegistryProviderVersion> {
  const version = await getLinked(ctx, id)
  if (version.status === 'revoked') throw notFound()
  return version
}

/**
 * Takes the SHA256SUMS file of a version. Refuses one that clients would choke on, one that contradicts a
 * platform, and one that the signature, when that came first, was not made over.
 */
export async function acceptShasums(ctx: Ctx, id: string, staged: StagedBlob): Promise<void> {
  const content = await staged.read()
  await inTransaction(ctx, async (tx) => {
    const version = await lock(tx, id)
    if (await isUploaded(tx, version.shasumsBlob, staged.sha256)) return
    const digests = parse(content)
    for (const platform of await store.listPlatforms(tx.db, [id])) refuseContradiction(digests, platform)
    if (version.signatureBlob) await verify(content, await readBlob(tx, version.signatureBlob), version)
    await record(tx, id, 'shasumsBlob', staged)
  })
}

/**
 * Takes the detached signature of a version's SHA256SUMS, armored or not; it is kept in the binary form that
 * clients read. Refuses one that was not made by the version's key.
 */
export async function acceptSignature(ctx: Ctx, id: string, upload: StagedBlob): Promise<void> {
  const { asciiArmor } = await getLinked(ctx, id)
  const signature = await toBinarySignature(await upload.read()).catch(refuseSignature)
  if (!(await isIssuedBy(signature, asciiArmor))) throw new AppError('unprocessable', OTHER_KEY)
  const staged = await ctx.blobs.stage(Readable.from([signature]), MAX_BYTES)
  try {
    await inTransaction(ctx, async (tx) => {
      const version = await lock(tx, id)
      if (await isUploaded(tx, version.signatureBlob, staged.sha256)) return
      if (version.shasumsBlob) await verify(await readBlob(tx, version.shasumsBlob), signature, version)
      await record(tx, id, 'signatureBlob', staged)
    })
  } finally {
    await staged.discard()
  }
}

/** The digests that a stored SHA256SUMS file lists, by file name; undefined when there is no file. */
export async function readDigests(ctx: Ctx, key: string | null): Promise<Map<string, string> | undefined> {
  return key ? parse(await readBlob(ctx, key)) : undefined
}

const OTHER_KEY =
  "The signature was not made by the version's key. Sign SHA256SUMS with the key that the version's key-id names."

async function lock(tx: Ctx, id: string): Promise<RegistryProviderVersion> {
  const version = await store.lock(tx.db, id)
  if (!version) throw notFound()
  return version
}

async function record(tx: Ctx, id: string, file: ReleaseFile, staged: StagedBlob): Promise<void> {
  const owner = await ownerOf(tx, id)
  await quotas.claimRoom(tx, owner.organizationId, staged.size)
  await keep(tx.db, blobKey(id, staged), staged, tx.now())
  await store.update(tx.db, id, { [file]: blobKey(id, staged), updatedAt: tx.now() })
  await publishIfComplete(tx, id, owner)
}

/** The provider of a version; 404 when it is gone. */
export async function ownerOf(ctx: Ctx, id: string): Promise<VersionOwner> {
  const provider = await store.findProvider(ctx.db, id)
  if (!provider) throw notFound()
  return provider
}

function blobKey(versionId: string, { sha256 }: StagedBlob): string {
  return `providers/${versionId}/${sha256}`
}

async function readBlob(ctx: Ctx, key: string): Promise<Buffer> {
  return buffer(await ctx.blobs.read(key))
}

function parse(content: Buffer): Map<string, string> {
  try {
    return parseShasums(content.toString('utf8'))
  } catch (error) {
    if (!(error instanceof ShasumsError)) throw error
    throw new AppError('unprocessable', `The SHA256SUMS file is malformed: ${error.message}.`)
  }
}

function refuseContradiction(
  digests: Map<string, string>,
  { filename, shasum, os, arch }: PlatformFile,
): void {
  const listed = digests.get(filename)
  if (listed === shasum) return
  throw new AppError(
    'unprocessable',
    listed
      ? `The SHA256SUMS file gives ${filename} the digest ${listed}, but platform ${os}_${arch} has ${shasum}.`
      : `The SHA256SUMS file does not list ${filename}, the file of platform ${os}_${arch}.`,
  )
}

async function verify(
  shasums: Buffer,
  signature: Buffer,
  { asciiArmor }: RegistryProviderVersion,
): Promise<void> {
  await verifySignature(shasums, signature, asciiArmor).catch((error: unknown) => {
    if (!(error instanceof OpenPgpError)) throw error
    throw new AppError('unprocessable', `The signature does not fit the SHA256SUMS file: ${error.message}.`)
  })
}

function refuseSignature(error: unknown): never {
  if (!(error instanceof OpenPgpError)) throw error
  throw new AppError('unprocessable', `The signature is refused: ${error.message}.`)
}
