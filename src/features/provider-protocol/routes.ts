import type { Ctx } from '../../context.ts'
import type { Routes } from '../../http/routes.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
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
  const link = (kind: string, id: string, name: string) =>
    ctx.links.sign({ method: 'GET', kind, id }, ctx.now(), DOWNLOAD_SECONDS, name)
  return {
    protocols: JSON.parse(platform.protocols),
    os: platform.os,
    arch: platform.arch,
    filename,
    download_url: link('provider-binary', platform.id, filename),
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

export const routes: Routes = (app) => {
  const provider = '/api/registry/v1/providers/:namespace/:name'

  app.get(`${provider}/versions`, async ({ ctx, path }, reply) => {
    const versions = toVersions(await service.listVersions(ctx, path.namespace, path.name))
    return reply.type('application/json').send({ versions, warnings: null })
  })

  app.get(`${provider}/:version/download/:os/:arch`, async ({ ctx, path }, reply) => {
    return reply.type('application/json').send(toPackage(ctx, await service.getPackage(ctx, path)))
  })
}
