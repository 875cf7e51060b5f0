import type { SigningKey } from '../registry.ts'
import { sha256 } from '../registry.ts'
import { Known } from './known.ts'

export interface Platform {
  os: string
  arch: string
  filename: string
  archive: Buffer
  exists: Known<boolean>
  binary: Known<boolean>
}

/** A release on its way into the registry, and what is known of each piece of it. */
export interface Release {
  version: string
  shasumsFile: Buffer
  signatureFile: Buffer
  exists: Known<boolean>
  shasums: Known<boolean>
  signature: Known<boolean>
  platforms: Platform[]
}

export async function newRelease(
  name: string,
  version: string,
  key: SigningKey,
  archives: readonly Buffer[],
): Promise<Release> {
  const platforms = archives.map((archive, index) => ({
    os: 'linux',
    arch: `arch${index}`,
    filename: `terraform-provider-${name}_${version}_linux_arch${index}.zip`,
    archive,
    exists: new Known(false),
    binary: new Known(false),
  }))
  const lines = platforms.map(({ archive, filename }) => `${sha256(archive)}  ${filename}\n`)
  const shasumsFile = Buffer.from(lines.join(''))
  return {
    version,
    shasumsFile,
    signatureFile: await key.sign(shasumsFile),
    exists: new Known(false),
    shasums: new Known(false),
    signature: new Known(false),
    platforms,
  }
}

export function isComplete({ exists, shasums, signature, platforms }: Release): boolean {
  return exists.state && shasums.state && signature.state && platforms.every(({ binary }) => binary.state)
}

/** `version os_arch` of what clients may install. */
export function installable({ version, exists, shasums, signature, platforms }: Release): string[] {
  if (!exists.state || !shasums.state || !signature.state) return []
  return platforms.filter(({ binary }) => binary.state).map(({ os, arch }) => `${version} ${os}_${arch}`)
}
