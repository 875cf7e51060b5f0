import { one, type Resource } from '../../http/jsonapi.ts'
import { leaving } from '../../http/leaving.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, OneOf } from '../../http/schema.ts'
import { answerOne, answerPlain, Exactly, Links, Shown } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { AppError } from '../../lib/errors.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import { Type } from '../../lib/type.ts'
import { requireAddress } from './addresses.ts'
import { ARCHIVE, UPSTREAM_FAILURES } from './file-routes.ts'
import { getListing } from './listings.ts'
import type { Release } from './releases.ts'
import { getRelease } from './releases.ts'
import type { OrganizationMirror } from './service.ts'
import * as service from './service.ts'

const TYPE = 'provider-mirrors'

const Attributes = Type.Object({
  'allowed-providers': Type.Array(Type.String({ maxLength: 400 }), {
    maxItems: 1000,
    description: 'What is mirrored: providers, all of a namespace, or all of a host.',
    examples: [['registry.terraform.io/hashicorp/*', 'registry.opentofu.org/*/*']],
  }),
  'unlisted-in-runs': {
    ...OneOf('refused', 'direct'),
    description:
      'Whether runs can install other providers: not at all, or from where they come from. The organization’s own ' +
      'can always be installed.',
  },
  'trusted-keys': Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: 1000,
    description: 'Fingerprints of signing keys that are trusted for every provider.',
    examples: [['C874011F0AB405110D02105534365D9472D7468F']],
  }),
  'trust-on-first-use': Type.Boolean({
    description:
      'Whether the key that signed the first version which is fetched of a provider is trusted for that provider. ' +
      'Otherwise only `trusted-keys` are.',
  }),
})

const Mirror = Shown('ProviderMirror', TYPE, {
  id: 'acme',
  attributes: {
    ...Attributes.properties,
    url: Type.String({
      description: 'For `network_mirror` of the CLI’s configuration.',
      examples: ['https://plinth.example.com/mirror/acme/'],
    }),
  },
  links: Links('self'),
})

const doc = documents(
  'Provider mirror',
  'Providers of other registries, verified and kept for an organization.',
)

const MirroredVersions = Exactly(
  { versions: Type.Record(Type.String(), Exactly({})) },
  { title: 'MirroredVersions' },
)

const MirroredArchives = Exactly(
  {
    archives: Type.Record(
      Type.String(),
      Exactly({
        url: Type.String({ description: 'Where the archive is for the next 15 minutes, without a token.' }),
        hashes: Type.Array(Type.String(), {
          description: 'In the forms of lock files: zh as it was signed, and h1 once the archive is kept.',
        }),
      }),
      { description: 'By `os_arch`.' },
    ),
  },
  { title: 'MirroredArchives' },
)

const docs = {
  show: doc('showProviderMirror', 'Show what the mirror takes, and whom it trusts', {
    200: answerOne(Mirror),
  }),
  update: doc('updateProviderMirror', 'Change what the mirror takes, and whom it trusts', {
    200: answerOne(Mirror),
  }),
  versions: doc(
    'listMirroredVersions',
    'List the versions of a provider that can be mirrored',
    { 200: answerPlain('All of them, by number.', MirroredVersions) },
    { failures: UPSTREAM_FAILURES },
  ),
  archives: doc(
    'listMirroredArchives',
    'Tell where the archives of a version can be downloaded from',
    { 200: answerPlain('One for each platform.', MirroredArchives) },
    { failures: UPSTREAM_FAILURES },
  ),
}

const toResource = (baseUrl: string, mirror: OrganizationMirror): Resource => {
  const { name } = mirror.organization
  return {
    id: name,
    type: TYPE,
    attributes: {
      'allowed-providers': mirror.allowedProviders,
      'unlisted-in-runs': mirror.unlistedInRuns,
      'trusted-keys': mirror.trustedKeys,
      'trust-on-first-use': mirror.trustOnFirstUse,
      url: `${baseUrl}/mirror/${name}/`,
    },
    links: { self: `/api/v2/organizations/${name}/provider-mirror` },
  }
}

/** `1.2.3.json` → `1.2.3` */
function versionIn(document: string): string {
  const [, version] = /^(.+)\.json$/.exec(document) ?? []
  if (version === undefined) throw new AppError('notFound', 'There is no such document.')
  return version
}

export const routes: Routes = (app) => {
  const settings = '/api/v2/organizations/:organization_name/provider-mirror'
  const provider = '/mirror/:organization_name/:hostname/:namespace/:name'

  app.get(settings, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(ctx.baseUrl, await service.get(ctx, path.organization_name))),
  )

  app.patch(
    settings,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: {
        doc: docs.update,
        access: (ctx, path) => service.get(ctx, path.organization_name, 'registry-providers:manage'),
      },
    },
    async ({ ctx, path, body }) => {
      const changed = await service.update(ctx, path.organization_name, camelKeys(body.data.attributes))
      return one(toResource(ctx.baseUrl, changed))
    },
  )

  app.get(`${provider}/index.json`, { config: { doc: docs.versions } }, async ({ ctx, path }, reply) => {
    const mirror = await service.get(ctx, path.organization_name)
    const { versions } = await getListing(ctx, mirror, requireAddress(path), leaving(reply))
    const answer = { versions: Object.fromEntries(versions.map(({ version }) => [version, {}])) }
    return reply.type('application/json').send(answer)
  })

  app.get(`${provider}/:document`, { config: { doc: docs.archives } }, async ({ ctx, path }, reply) => {
    const mirror = await service.get(ctx, path.organization_name)
    const wanted = { version: versionIn(path.document) }
    const { packages } = await getRelease(ctx, mirror, requireAddress(path), wanted, leaving(reply))
    const archives = packages.map((each) => [
      `${each.os}_${each.arch}`,
      {
        url: ctx.links.sign(
          { method: 'GET', kind: ARCHIVE, id: each.id },
          ctx.now(),
          DOWNLOAD_SECONDS,
          each.filename,
        ),
        hashes: hashesOf(each),
      },
    ])
    return reply.type('application/json').send({ archives: Object.fromEntries(archives) })
  })
}

function hashesOf({ shasum, packageHash }: Release['packages'][number]): string[] {
  return [`zh:${shasum}`, ...(packageHash ? [packageHash] : [])]
}
