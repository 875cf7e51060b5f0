/** Something about a release that is wrong, or that its author should know. */
export interface Finding {
  severity: 'error' | 'warning'
  /** What kind of finding it is, for programs. */
  code: string
  file: string
  message: string
  /** What to do about it. */
  fix: string
}

/** The archive of one platform. */
export interface Archive {
  filename: string
  path: string
  size: number
  sha256: string
  os: string
  arch: string
}

/** The public key that a release is signed with. */
export interface SigningKey {
  armor: string
  keyId: string
  fingerprint: string
  expiresAt: string | null
}

/** Documentation that is ready to be sent. */
export interface PackedDocs {
  /** Where it is from. */
  directory: string
  /** Paths in the archive, sorted. */
  pages: readonly string[]
  bytes: Buffer
  /** Of these bytes. */
  sha256: string
}

/** A release that is ready to be published. */
export interface Release {
  name: string
  version: string
  protocols: readonly string[]
  archives: readonly Archive[]
  shasums: { filename: string; bytes: Buffer }
  /** Binary. */
  signature: { filename: string; bytes: Buffer }
  /** Undefined where it is not on this machine: the registry has to know it. */
  key: SigningKey | undefined
  /** The key that the caller named by its id. */
  keyId: string | undefined
  docs: PackedDocs | undefined
}
