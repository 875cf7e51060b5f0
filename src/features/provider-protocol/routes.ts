import type { Ctx } from '../../context.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable } from '../../http/schema.ts'
import { answerPlain, Exactly } from '../../http/shown.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import { Type } from '../../lib/type.ts'
import * as consumers from '../registry-provider-consumers/service.ts'
import type { InstallablePlatform, Package } from './service.ts'
import * as service from './service.ts'

// The provider registry protocol, which `terraform init` and `tofu init` speak. Clients send their token to
// these two addresses but not to the files, whose links therefore carry their own permission.

/** The list that a client picks a version from. A version without a protocol answer would break them all. */
function toVersions(versions: Map<string, InstallablePlatform[]>) {
  return [...versions].map(([version, platforms]) => ({
    version,
    protocols: JSON.parse(platforms[0]?.protocols ?? '[]'),
    platforms: platforms.map(({ os, arch }) => ({ os, arch })),
  }))
}

function toPackage(ctx: Ctx, { provider, siblings, ...platform }: Package) {
  const { version, versionId, filename } = platform
  const shasums = `terraform-provider-${provider.name}_${version}_SHA256SUMS`
  const link = (kind: string, id: string, name: string, requestedBy?: string) =>
    ctx.links.sign({ method: 'GET', kind, id, requestedBy }, ctx.now(), DOWNLOAD_SECONDS, name)
  return {
    protocols: JSON.parse(platform.protocols),
    os: platform.os,
    arch: platform.arch,
    filename,
    download_url: link('provider-binary', platform.id, filename, consumers.requesterOf(ctx)),
    shasums_url: link('provider-shasums', versionId, shasums),
    shasums_signature_url: link('provider-shasums-sig', versionId, `${shasums}.sig`),
    shasum: platform.shasum,
    signing_keys: {
      gpg_public_keys: [
        {
          key_id: platform.keyId,
          ascii_armor: platform.asciiArmor,
          // Anything else would have to be signed by the vendor of terraform.
          trust_signature: '',
          source: '',
          source_url: null,
        },
      ],
    },
    packages: toPackages(siblings),
  }
}

/** Hashes of every platform, from which OpenTofu 1.12 and later write a lock file that is complete. */
function toPackages(platforms: InstallablePlatform[]) {
  return Object.fromEntries(
    platforms.map(({ os, arch, shasum, packageHash, size }) => [
      `${os}_${arch}`,
      { hashes: [`zh:${shasum}`, packageHash], package_size: size },
    ]),
  )
}

const Protocols = Type.Array(Type.String({ examples: ['5.0'] }), {
  description: 'Versions of the plugin protocol that it speaks.',
})
const Os = Type.String({ examples: ['linux'] })
const Arch = Type.String({ examples: ['amd64'] })
const DownloadAddress = (of: string) =>
  Type.String({ description: `Where ${of} is for the next 15 minutes, without a token.` })

const Versions = Exactly(
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

const InstallablePackage = Exactly(
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
    packages: Type.Record(Type.String(), Hashes, { description: 'Of every platform, by `os_arch`.' }),
  },
  { title: 'InstallablePackage' },
)

const doc = documents(
  'Provider registry protocol',
  'What `terraform init` and `tofu init` install providers by.',
)

const docs = {
  versions: doc('listInstallableVersions', 'List the versions of a provider that can be installed', {
    200: answerPlain('All of them.', Versions),
  }),
  package: doc('findPackage', 'Tell where a provider can be downloaded from', {
    200: answerPlain('Addresses, digests and keys.', InstallablePackage),
  }),
}

export const routes: Routes = (app) => {
  const provider = '/api/registry/v1/providers/:namespace/:name'

  app.get(`${provider}/versions`, { config: { doc: docs.versions } }, async ({ ctx, path }, reply) => {
    const found = await service.listVersions(ctx, path.namespace, path.name)
    const warnings = service.warningsOf(ctx, found)
    const answer = { versions: toVersions(found), warnings: warnings.length > 0 ? warnings : null }
    return reply.type('application/json').send(answer)
  })

  app.get(
    `${provider}/:version/download/:os/:arch`,
    { config: { doc: docs.package } },
    async ({ ctx, path }, reply) => {
      return reply.type('application/json').send(toPackage(ctx, await service.getPackage(ctx, path)))
    },
  )
}
