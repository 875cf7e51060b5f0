import { can } from '../../auth/authorize.ts'
import { getFile } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { input, Nullable, OneOf, Text } from '../../http/schema.ts'
import {
  answerOne,
  answerPage,
  Exactly,
  Moment,
  NOTHING,
  Permissions,
  Related,
  RelatedMany,
  Shown,
} from '../../http/shown.ts'
import { fileLink, mountDownload, mountUpload, type StoredFile } from '../../http/storage.ts'
import { camelKeys } from '../../lib/case.ts'
import { SEMVER } from '../../lib/semver.ts'
import { Type } from '../../lib/type.ts'
import { addressOf, getPrivate, pathOf } from '../registry-providers/service.ts'
import * as files from './release-files.ts'
import type { VersionDetails } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-provider-versions'
const SHASUMS = 'provider-shasums'
const SIGNATURE = 'provider-shasums-sig'

const SHASUMS_FILE = { kind: SHASUMS, name: 'ProviderShasums', about: 'the list of a version’s digests' }
const SIGNATURE_FILE = {
  kind: SIGNATURE,
  name: 'ProviderShasumsSignature',
  about: 'the signature of a version’s digests',
}

const Attributes = Type.Object({
  version: Text({
    maxLength: 128,
    pattern: SEMVER,
    rule: 'a semantic version such as 1.2.3, without a "v"',
    examples: ['1.2.3'],
  }),
  'key-id': Text({
    description: 'Of the signing key that its digests are signed with.',
    examples: ['32966F3FB5AC1129'],
  }),
  protocols: Type.Array(OneOf('4.0', '5.0', '6.0'), {
    minItems: 1,
    maxItems: 3,
    uniqueItems: true,
    description: 'Versions of the plugin protocol that it speaks.',
    examples: [['5.0']],
  }),
})

const Address = (description: string) => Type.Optional(Type.String({ description }))
const UPLOAD = 'by PUT, without a token, for the next 25 hours.'
const DOWNLOAD = 'for the next 15 minutes, without a token.'

const Version = Shown('RegistryProviderVersion', TYPE, {
  id: 'provver-y5KZUsSBRLV9zCtL',
  attributes: {
    ...Attributes.properties,
    'created-at': Moment('When it was announced.'),
    'updated-at': Moment('When it was last changed.'),
    'shasums-uploaded': Type.Boolean(),
    'shasums-sig-uploaded': Type.Boolean(),
    // Ours.
    'key-expires-at': Nullable(Moment('When the signing key expires; null for never.')),
    warnings: Type.Array(
      Type.String({ examples: ['signed by key 32966F3FB5AC1129, which expired on 2026-11-21'] }),
      { description: 'What those should know who publish or install it.' },
    ),
    permissions: Permissions(['can-delete', 'can-upload-asset']),
  },
  relationships: {
    'registry-provider': Related('registry-providers'),
    platforms: RelatedMany('registry-provider-platforms'),
  },
  links: Exactly({
    'shasums-upload': Address(`Takes the list of digests ${UPLOAD}`),
    'shasums-sig-upload': Address(`Takes the signature of that list ${UPLOAD}`),
    'shasums-download': Address(`Where the list of digests is ${DOWNLOAD}`),
    'shasums-sig-download': Address(`Where the signature of that list is ${DOWNLOAD}`),
  }),
})

const doc = documents('Provider versions', 'The versions of the providers of the private registry.', {
  forbidden: 'The provider is one of the public registry.',
})

const docs = {
  list: doc('listProviderVersions', 'List the versions of a provider', { 200: answerPage(Version) }),
  create: doc('createProviderVersion', 'Announce a version of a provider', { 201: answerOne(Version) }),
  show: doc('showProviderVersion', 'Show a version', { 200: answerOne(Version) }),
  remove: doc('removeProviderVersion', 'Remove a version, its platforms and its files', { 204: NOTHING }),
}

async function toResource(ctx: Ctx, version: VersionDetails): Promise<Resource> {
  const { provider, platforms, shasumsBlob, signatureBlob } = version
  const { organizationId } = provider
  const manages = await can(ctx, 'registry-provider-versions:manage', organizationId, provider.id)
  const link = (name: string, kind: string, blob: string | null) =>
    fileLink(ctx, {
      name,
      kind,
      id: version.id,
      filename: filenameOf(kind, version),
      isUploaded: blob !== null,
      mayUpload: manages,
    })
  return {
    id: version.id,
    type: TYPE,
    attributes: {
      version: version.version,
      'key-id': version.keyId,
      protocols: JSON.parse(version.protocols),
      'created-at': version.createdAt,
      'updated-at': version.updatedAt,
      'shasums-uploaded': shasumsBlob !== null,
      'shasums-sig-uploaded': signatureBlob !== null,
      'key-expires-at': version.keyExpiresAt,
      warnings: [service.warningOf(version, ctx.now())].filter((warning) => warning !== undefined),
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: {
      'registry-provider': toOne('registry-providers', provider.id),
      platforms: {
        ...toMany(
          'registry-provider-platforms',
          platforms.map((platform) => platform.id),
        ),
        links: { related: `${pathOf(provider)}/versions/${encodeURIComponent(version.version)}/platforms` },
      },
    },
    links: {
      ...link('shasums', SHASUMS, shasumsBlob),
      ...link('shasums-sig', SIGNATURE, signatureBlob),
    },
  }
}

function filenameOf(kind: string, { provider, version }: VersionDetails): string {
  const name = `terraform-provider-${provider.name}_${version}_SHA256SUMS`
  return kind === SIGNATURE ? `${name}.sig` : name
}

export const routes: Routes = (app) => {
  const collection =
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions'
  const member = `${collection}/:version`

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path, page, href }) => {
    return many(await service.list(ctx, addressOf(path), page), href, (version) => toResource(ctx, version))
  })

  app.post(
    collection,
    {
      // The Go client sends an empty type.
      schema: { body: input([TYPE, ''], Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => getPrivate(ctx, addressOf(path), 'registry-provider-versions:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, addressOf(path), camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.get(ctx, addressOf(path), path.version)))
  })

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, addressOf(path), path.version)
    return reply.code(204).send()
  })

  mountFiles(app)
}

function mountFiles(app: App): void {
  const expecting = (file: files.ReleaseFile) => ({
    expect: (ctx: Ctx, id: string, bytes: number | undefined) => files.expectFile(ctx, id, file, bytes),
    maxBytes: () => files.MAX_BYTES,
  })
  mountUpload(app, { ...expecting('shasumsBlob'), ...SHASUMS_FILE, accept: files.acceptShasums })
  mountUpload(app, { ...expecting('signatureBlob'), ...SIGNATURE_FILE, accept: files.acceptSignature })
  mountDownload(app, SHASUMS_FILE, async (ctx, id) => {
    const { shasumsBlob } = await files.getLinked(ctx, id)
    return toFile(ctx, shasumsBlob, 'text/plain; charset=utf-8', 'SHA256SUMS')
  })
  mountDownload(app, SIGNATURE_FILE, async (ctx, id) => {
    const { signatureBlob } = await files.getLinked(ctx, id)
    return toFile(ctx, signatureBlob, 'application/octet-stream', 'SHA256SUMS.sig')
  })
}

async function toFile(
  ctx: Ctx,
  key: string | null,
  contentType: string,
  filename: string,
): Promise<StoredFile> {
  const { key: blobKey, size, sha256 } = await getFile(ctx, key)
  return { blobKey, size, sha256, filename, contentType }
}
