import { Nullable } from '../../http/schema.ts'
import { Exactly } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

// How the answers of the provider registry protocol look, whoever gives them.

const Protocols = Type.Array(Type.String({ examples: ['5.0'] }), {
  description: 'Versions of the plugin protocol that it speaks.',
})
const Os = Type.String({ examples: ['linux'] })
const Arch = Type.String({ examples: ['amd64'] })
const DownloadAddress = (of: string) =>
  Type.String({ description: `Where ${of} is for the next 15 minutes, without a token.` })

export const InstallableVersions = Exactly(
  {
    versions: Type.Array(
      Exactly({
        version: Type.String({ examples: ['1.2.3'] }),
        protocols: Protocols,
        platforms: Type.Array(Exactly({ os: Os, arch: Arch })),
      }),
    ),
    warnings: Nullable(Type.Array(Type.String(), { description: 'What clients show; null for nothing.' })),
  },
  { title: 'InstallableVersions' },
)

const SigningKey = Exactly({
  key_id: Type.String({ examples: ['32966F3FB5AC1129'] }),
  ascii_armor: Type.String(),
  trust_signature: Type.String(),
  source: Type.String(),
  source_url: Type.Null(),
})

const Hashes = Exactly({
  hashes: Type.Array(Type.String(), { description: 'In the forms of lock files: zh and h1.' }),
  package_size: Type.Union([Type.Integer({ description: 'Bytes.' }), Type.Null()]),
})

export const InstallablePackage = Exactly(
  {
    protocols: Protocols,
    os: Os,
    arch: Arch,
    filename: Type.String({ examples: ['terraform-provider-network_1.2.3_linux_amd64.zip'] }),
    download_url: DownloadAddress('the archive'),
    shasums_url: DownloadAddress('the list of digests'),
    shasums_signature_url: DownloadAddress('the signature of that list'),
    shasum: Type.String({ description: 'SHA-256 of the archive, hexadecimal.' }),
    signing_keys: Exactly({ gpg_public_keys: Type.Array(SigningKey) }),
    packages: Type.Optional(
      Type.Record(Type.String(), Hashes, {
        description: 'Of every platform, by `os_arch`; of a mirrored version once all of them are kept.',
      }),
    ),
  },
  { title: 'InstallablePackage' },
)

/** The key that clients verify a version by. `trustSignature` is by the vendor of terraform, or empty. */
export function signingKeysOf(key: { keyId: string; asciiArmor: string }, trustSignature = '') {
  return {
    gpg_public_keys: [
      {
        key_id: key.keyId,
        ascii_armor: key.asciiArmor,
        trust_signature: trustSignature,
        source: '',
        source_url: null,
      },
    ],
  }
}

/** Hashes of every platform, from which OpenTofu 1.12 and later write a lock file that is complete. */
export function packagesOf(
  platforms: readonly {
    os: string
    arch: string
    shasum: string
    packageHash: string | null
    size: number | null
  }[],
) {
  return Object.fromEntries(
    platforms.map(({ os, arch, shasum, packageHash, size }) => [
      `${os}_${arch}`,
      { hashes: [`zh:${shasum}`, packageHash], package_size: size },
    ]),
  )
}
