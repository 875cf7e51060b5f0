import type { Immutable, Timestamp } from '../../db/columns.ts'

/** What an organization takes from other registries. */
export interface ProviderMirrorTable {
  organizationId: Immutable<string>
  /** JSON array of patterns such as registry.terraform.io/hashicorp/*. */
  allowedProviders: string
  /** Whether runs install what is on no list from where it comes from, or not at all. */
  unlistedInRuns: 'direct' | 'refused'
  /** JSON array of fingerprints that are trusted for every provider. */
  trustedKeys: string
  /** Whether the key of the first version that is fetched of a provider becomes its key. */
  trustOnFirstUse: boolean
  updatedAt: Timestamp
}

/** A provider of another registry that somebody in the organization asked for. */
export interface MirroredProviderTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** Lower case, as are the next two; with a port where it is not 443. */
  hostname: Immutable<string>
  namespace: Immutable<string>
  name: Immutable<string>
  /** JSON of the versions that the upstream has told last; null until it has. */
  listing: string | null
  listedAt: Timestamp | null
  /** When the upstream was asked for it last, whether it answered or not. */
  askedAt: Timestamp | null
  /** JSON array: whoever signs a version with one of these keys is the one who signed the first. */
  keyFingerprints: string
  lastError: string | null
  lastErrorAt: Timestamp | null
  createdAt: Immutable<Timestamp>
}

/** A version whose signed list of digests was verified. It never changes. */
export interface MirroredVersionTable {
  id: Immutable<string>
  providerId: Immutable<string>
  version: Immutable<string>
  /** JSON array such as ["5.0"]. */
  protocols: Immutable<string>
  keyId: Immutable<string>
  asciiArmor: Immutable<string>
  trustSignature: Immutable<string>
  shasumsBlob: Immutable<string>
  signatureBlob: Immutable<string>
  createdAt: Immutable<Timestamp>
}

/** A platform that the signed list names; its archive is fetched when somebody wants it. */
export interface MirroredPackageTable {
  id: Immutable<string>
  versionId: Immutable<string>
  os: Immutable<string>
  arch: Immutable<string>
  filename: Immutable<string>
  /** SHA-256 of the archive, lower-case hexadecimal. */
  shasum: Immutable<string>
  /** The `h1:` hash of the archive's contents, while it is kept. */
  packageHash: string | null
  archiveBlob: string | null
  fetchedAt: Timestamp | null
}
