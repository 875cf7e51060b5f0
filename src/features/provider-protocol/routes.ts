import type { Ctx } from '../../context.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerPlain } from '../../http/shown.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import * as consumers from '../registry-provider-consumers/service.ts'
import { InstallablePackage, InstallableVersions, packagesOf, signingKeysOf } from './resource.ts'
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
    // What the vendor of terraform has not signed, it must not be said to have.
    signing_keys: signingKeysOf(platform),
    packages: packagesOf(siblings),
  }
}

const doc = documents(
  'Provider registry protocol',
  'What `terraform init` and `tofu init` install providers by.',
)

const docs = {
  versions: doc('listInstallableVersions', 'List the versions of a provider that can be installed', {
    200: answerPlain('All of them.', InstallableVersions),
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
