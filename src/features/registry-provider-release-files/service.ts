import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import type { PlatformFile, VersionDetails } from '../registry-provider-versions/service.ts'
import * as versions from '../registry-provider-versions/service.ts'
import { type ProviderAddress, pathOf } from '../registry-providers/service.ts'

/** Something that is wrong, and what can be done about it. */
export interface Problem {
  code: 'missing' | 'key-expired' | 'platform-missing' | 'no-platforms' | 'revoked'
  detail: string
  mend: string
}

/** A file that belongs to a release, whether it is there or not. */
export interface ReleaseFile {
  kind: 'shasums' | 'shasums-sig' | 'archive'
  /** None for the list and its signature, which have names of their own. */
  filename?: string
  /** Of an archive, as far as it is known. */
  os?: string | undefined
  arch?: string | undefined
  shasum?: string
  /** What the file's links are about; undefined while nothing can be uploaded. */
  ownerId: string | undefined
  platformId?: string
  isUploaded: boolean
  problems: Problem[]
}

export interface Release {
  version: VersionDetails
  files: ReleaseFile[]
  /** What is wrong with the version as a whole. */
  problems: Problem[]
  isInstallable: boolean
  mayUpload: boolean
}

/** What belongs to a version: the signed list, its signature, and the archives that are listed or announced. */
export async function get(ctx: Ctx, address: ProviderAddress, number: string): Promise<Release> {
  const version = await versions.get(ctx, address, number)
  const { organizationId, id } = version.provider
  const manages = await can(ctx, 'registry-provider-versions:manage', organizationId, id)
  const digests = (await versions.listDigests(ctx, version)) ?? new Map<string, string>()
  const isInstallable =
    versions.INSTALLABLE.includes(version.status) && version.platforms.some(({ binaryBlob }) => binaryBlob)
  return {
    version,
    files: [
      shasumsOf(version),
      signatureOf(version, ctx.now()),
      ...version.platforms.map(archiveOf),
      ...unannounced(version, digests),
    ],
    problems: problemsOf(version),
    isInstallable,
    mayUpload: manages && version.status !== 'revoked',
  }
}

function shasumsOf({ id, shasumsBlob }: VersionDetails): ReleaseFile {
  const mend = 'Write the list by sha256sum *.zip, and upload it by PUT to its link.'
  const missing: Problem = { code: 'missing', detail: 'The list of digests is not uploaded.', mend }
  return {
    kind: 'shasums',
    ownerId: id,
    isUploaded: shasumsBlob !== null,
    problems: shasumsBlob === null ? [missing] : [],
  }
}

function signatureOf(version: VersionDetails, now: string): ReleaseFile {
  const { id, signatureBlob, keyId, keyExpiresAt } = version
  const problems: Problem[] = []
  if (signatureBlob === null)
    problems.push({
      code: 'missing',
      detail: 'The signature of the list is not uploaded.',
      mend: `Sign the list by gpg --local-user ${keyId} --detach-sign, and upload the signature by PUT to its link.`,
    })
  if (keyExpiresAt && keyExpiresAt <= now)
    problems.push({
      code: 'key-expired',
      detail: `Key ${keyId} expired on ${keyExpiresAt.slice(0, 10)}: clients warn of the version, and some refuse it.`,
      mend: 'Register a key that has not expired, and release the next version with it.',
    })
  return { kind: 'shasums-sig', ownerId: id, isUploaded: signatureBlob !== null, problems }
}

function archiveOf({ id, os, arch, filename, shasum, binaryBlob }: PlatformFile): ReleaseFile {
  const missing: Problem = {
    code: 'missing',
    detail: `The archive of ${os}_${arch} is not uploaded.`,
    mend: `Upload ${filename}, the file with SHA-256 ${shasum}, by PUT to its link.`,
  }
  return {
    kind: 'archive',
    filename,
    os,
    arch,
    shasum,
    ownerId: id,
    platformId: id,
    isUploaded: binaryBlob !== null,
    problems: binaryBlob === null ? [missing] : [],
  }
}

/** The archives that the list has and no platform: they cannot be uploaded before there is one. */
function unannounced(version: VersionDetails, digests: ReadonlyMap<string, string>): ReleaseFile[] {
  const announced = new Set(version.platforms.map(({ filename }) => filename))
  const archives = [...digests].filter(([filename]) => filename.endsWith('.zip') && !announced.has(filename))
  return archives.map(([filename, shasum]) => {
    const [, os, arch] = /_([a-z0-9]+)_([a-z0-9]+)\.zip$/.exec(filename) ?? []
    const target = os && arch ? `os ${os}, arch ${arch}, ` : ''
    const problem: Problem = {
      code: 'platform-missing',
      detail: `The list has ${filename}, for which there is no platform.`,
      mend: `Add the platform by POST to ${platformsPath(version)}, with ${target}filename ${filename} and shasum ${shasum}.`,
    }
    const problems = version.status === 'revoked' ? [] : [problem]
    return { kind: 'archive', filename, os, arch, shasum, ownerId: undefined, isUploaded: false, problems }
  })
}

function problemsOf(version: VersionDetails): Problem[] {
  if (version.status === 'revoked')
    return [
      {
        code: 'revoked',
        detail: 'The version is revoked: nobody can install it, and nothing can be added.',
        mend: 'Release a new version. If it was a mistake, restore this one by a revocation with the status Unrevoked.',
      },
    ]
  if (version.platforms.length > 0) return []
  return [
    {
      code: 'no-platforms',
      detail: 'The version has no platform.',
      mend: `Add one for each archive by POST to ${platformsPath(version)}.`,
    },
  ]
}

function platformsPath({ provider, version }: VersionDetails): string {
  return `${pathOf(provider)}/versions/${encodeURIComponent(version)}/platforms`
}
