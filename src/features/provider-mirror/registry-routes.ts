import type { FastifyRequest } from 'fastify'
import type { Ctx } from '../../context.ts'
import { leaving } from '../../http/leaving.ts'
import { documents } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { answerPlain } from '../../http/shown.ts'
import { SIGNED_LINK, speakForToken, verifyLink } from '../../http/storage.ts'
import { notFound } from '../../lib/errors.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import {
  InstallablePackage,
  InstallableVersions,
  packagesOf,
  signingKeysOf,
} from '../provider-protocol/resource.ts'
import { requireAddress } from './addresses.ts'
import { ARCHIVE, SHASUMS, SIGNATURE, UPSTREAM_FAILURES } from './file-routes.ts'
import { getListing } from './listings.ts'
import { isPassedOn, upstreamAddress } from './passing-on.ts'
import type { Release } from './releases.ts'
import { getRelease } from './releases.ts'
import type { OrganizationMirror } from './service.ts'
import * as service from './service.ts'

// The provider registry protocol, spoken for other hosts with the engines of runs. They show their tokens to nobody:
// the address that they are given is a link, which ends with the run's token.

const doc = documents(
  'Provider registry protocol',
  'What `terraform init` and `tofu init` install providers by.',
)

const PASSED_ON = {
  description: 'It is not mirrored, and runs of the organization may install it: ask there.',
}

const docs = {
  versions: doc(
    'listInstallableVersionsOfRun',
    'List the versions of a mirrored provider, for a run',
    { 200: answerPlain('All of them.', InstallableVersions), 307: PASSED_ON },
    { failures: UPSTREAM_FAILURES },
  ),
  package: doc(
    'findPackageOfRun',
    'Tell a run where a mirrored provider can be downloaded from',
    { 200: answerPlain('Addresses, digests and keys.', InstallablePackage), 307: PASSED_ON },
    { failures: UPSTREAM_FAILURES },
  ),
}

/** The mirror that the link of a run is for, if the run may still read the registry. */
async function mirrorOf(request: FastifyRequest): Promise<OrganizationMirror> {
  const { ctx, path } = request
  const { tokenId } = verifyLink(request, { method: 'GET', kind: service.REGISTRY_LINK, id: path.id })
  if (!tokenId) throw notFound()
  await speakForToken(ctx, tokenId)
  return service.getById(ctx, path.id)
}

function toPackage(ctx: Ctx, { name, os, arch }: PathParams, { version, packages }: Release) {
  const found = packages.find((each) => each.os === os && each.arch === arch)
  if (!found) throw notFound()
  const shasums = `terraform-provider-${name}_${version.version}_SHA256SUMS`
  const link = (kind: string, id: string, filename: string) =>
    ctx.links.sign({ method: 'GET', kind, id }, ctx.now(), DOWNLOAD_SECONDS, filename)
  return {
    protocols: JSON.parse(version.protocols),
    os,
    arch,
    filename: found.filename,
    download_url: link(ARCHIVE, found.id, found.filename),
    shasums_url: link(SHASUMS, version.id, shasums),
    shasums_signature_url: link(SIGNATURE, version.id, `${shasums}.sig`),
    shasum: found.shasum,
    signing_keys: signingKeysOf(version, version.trustSignature),
    // Clients take a list that lacks a platform for a refusal of it.
    ...(packages.every(({ size }) => size !== null) && { packages: packagesOf(packages) }),
  }
}

export const registryRoutes: Routes = (app) => {
  const provider = `/storage/${service.REGISTRY_LINK}/:id/:expires/:signature/:hostname/:namespace/:name`

  app.get(
    `${provider}/versions`,
    { config: { ...SIGNED_LINK, doc: docs.versions } },
    async (request, reply) => {
      const [mirror, address, left] = [await mirrorOf(request), requireAddress(request.path), leaving(reply)]
      if (isPassedOn(mirror, address))
        return reply.redirect(await upstreamAddress(request.ctx, address, 'versions', left), 307)
      const { versions, warnings } = await getListing(request.ctx, mirror, address, left)
      return reply
        .type('application/json')
        .send({ versions, warnings: warnings.length > 0 ? warnings : null })
    },
  )

  app.get(
    `${provider}/:version/download/:os/:arch`,
    { config: { ...SIGNED_LINK, doc: docs.package } },
    async (request, reply) => {
      const { ctx, path } = request
      const { version, os, arch } = path
      const [mirror, address, left] = [await mirrorOf(request), requireAddress(path), leaving(reply)]
      if (isPassedOn(mirror, address)) {
        const rest = `${version}/download/${os}/${arch}`
        return reply.redirect(await upstreamAddress(ctx, address, rest, left), 307)
      }
      const release = await getRelease(ctx, mirror, address, { version, platform: { os, arch } }, left)
      return reply.type('application/json').send(toPackage(ctx, path, release))
    },
  )
}
