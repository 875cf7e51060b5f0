import { many, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable } from '../../http/schema.ts'
import { answerPage, Moment, NOTHING, Related, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { spell } from './addresses.ts'
import type { KeptPackage, ProviderSummary } from './kept.ts'
import * as kept from './kept.ts'

const PROVIDERS = 'mirrored-providers'
const PACKAGES = 'mirrored-packages'

const Address = Type.String({ examples: ['registry.terraform.io/hashicorp/random'] })
const Bytes = (description: string) => Type.Integer({ minimum: 0, description })

const Provider = Shown('MirroredProvider', PROVIDERS, {
  id: 'mprov-6XYzQb1zJwdEfNCg',
  attributes: {
    provider: Address,
    'key-fingerprints': Type.Array(Type.String(), { description: 'Of the keys that signed what is kept.' }),
    'kept-packages': Type.Integer({ minimum: 0, description: 'Archives that are kept.' }),
    'kept-bytes': Bytes('Bytes of these archives.'),
    'listed-at': Nullable(Moment('When the upstream told its versions last.')),
    'asked-at': Nullable(Moment('When it was asked for them last; later than that when it did not answer.')),
    'last-error': Nullable(
      Type.String({ description: 'What went wrong last, whether it was mended or not.' }),
    ),
    'last-error-at': Nullable(Moment('When that was.')),
  },
})

const Package = Shown('MirroredPackage', PACKAGES, {
  id: 'mpkg-kJ3mXUu7rTVd1qYe',
  attributes: {
    provider: Address,
    version: Type.String({ examples: ['3.6.0'] }),
    os: Type.String({ examples: ['linux'] }),
    arch: Type.String({ examples: ['amd64'] }),
    filename: Type.String({ examples: ['terraform-provider-random_3.6.0_linux_amd64.zip'] }),
    shasum: Type.String({ description: 'SHA-256 of the archive, hexadecimal.' }),
    'package-hash': Type.String({ description: 'The h1 hash of what is in it.' }),
    size: Bytes('Bytes of the archive.'),
    'fetched-at': Moment('When it was fetched.'),
  },
  relationships: { 'mirrored-provider': Related(PROVIDERS) },
})

const doc = documents(
  'Provider mirror',
  'Providers of other registries, verified and kept for an organization.',
)

const docs = {
  providers: doc('listMirroredProviders', 'List the providers that the mirror was asked for', {
    200: answerPage(Provider),
  }),
  packages: doc('listMirroredPackages', 'List the archives that the mirror keeps', {
    200: answerPage(Package),
  }),
  removeProvider: doc('removeMirroredProvider', 'Forget a provider, and whose key it is trusted by', {
    204: NOTHING,
  }),
  removePackage: doc('removeMirroredPackage', 'Remove an archive, and remember its digest', { 204: NOTHING }),
}

const toProvider = (provider: ProviderSummary): Resource => ({
  id: provider.id,
  type: PROVIDERS,
  attributes: {
    provider: spell(provider),
    'key-fingerprints': JSON.parse(provider.keyFingerprints),
    'kept-packages': provider.keptPackages,
    'kept-bytes': provider.keptBytes,
    'listed-at': provider.listedAt,
    'asked-at': provider.askedAt,
    'last-error': provider.lastError,
    'last-error-at': provider.lastErrorAt,
  },
})

const toPackage = (found: KeptPackage): Resource => ({
  id: found.id,
  type: PACKAGES,
  attributes: {
    provider: spell(found),
    version: found.version,
    os: found.os,
    arch: found.arch,
    filename: found.filename,
    shasum: found.shasum,
    'package-hash': found.packageHash,
    size: found.size,
    'fetched-at': found.fetchedAt,
  },
  relationships: { 'mirrored-provider': toOne(PROVIDERS, found.providerId) },
})

export const keptRoutes: Routes = (app) => {
  const mirror = '/api/v2/organizations/:organization_name/provider-mirror'

  app.get(`${mirror}/providers`, { config: { doc: docs.providers } }, async ({ ctx, path, page, href }) =>
    many(await kept.listProviders(ctx, path.organization_name, page), href, toProvider),
  )

  app.get(`${mirror}/packages`, { config: { doc: docs.packages } }, async ({ ctx, path, page, href }) =>
    many(await kept.listPackages(ctx, path.organization_name, page), href, toPackage),
  )

  app.delete(
    '/api/v2/mirrored-providers/:id',
    { config: { doc: docs.removeProvider } },
    async ({ ctx, path }, reply) => {
      await kept.removeProvider(ctx, path.id)
      return reply.code(204).send()
    },
  )

  app.delete(
    '/api/v2/mirrored-packages/:id',
    { config: { doc: docs.removePackage } },
    async ({ ctx, path }, reply) => {
      await kept.removePackage(ctx, path.id)
      return reply.code(204).send()
    },
  )
}
