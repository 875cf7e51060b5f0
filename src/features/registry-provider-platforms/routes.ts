import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { input, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Exactly, NOTHING, Permissions, Related, Shown } from '../../http/shown.ts'
import { fileLink, mountDownload, mountUpload } from '../../http/storage.ts'
import { Type } from '../../lib/type.ts'
import * as consumers from '../registry-provider-consumers/service.ts'
import * as versions from '../registry-provider-versions/service.ts'
import { addressOf } from '../registry-providers/service.ts'
import { BINARY } from './resource.ts'
import type { PlatformDetails } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-provider-platforms'
const ARCHIVE = { kind: BINARY, name: 'ProviderArchive', about: 'the archive of a platform' }

const TARGET = {
  maxLength: 32,
  pattern: '^[a-z0-9]+$',
  rule: 'lower-case letters and digits, such as linux or amd64',
}

const Attributes = Type.Object({
  os: Text({ ...TARGET, description: 'The operating system, as Go names it.', examples: ['linux'] }),
  arch: Text({ ...TARGET, description: 'The processor architecture, as Go names it.', examples: ['amd64'] }),
  shasum: Text({
    pattern: '^[0-9A-Fa-f]{64}$',
    rule: 'a SHA-256 digest of 64 hexadecimal digits',
    description: 'Of the archive that will be uploaded.',
    examples: ['8f69533bc8afc227b40d15116358f91505bb638ce5919712fbb38a2dec1bba38'],
  }),
  filename: Text({
    pattern: '^[A-Za-z0-9_+-][A-Za-z0-9._+-]*$',
    rule: 'a bare file name of letters, digits and . _ + - only',
    description: 'Of the archive.',
    examples: ['terraform-provider-network_1.2.3_linux_amd64.zip'],
  }),
})

const Platform = Shown('RegistryProviderPlatform', TYPE, {
  id: 'provpltfrm-BLJWvWyJ2QMs525k',
  attributes: {
    ...Attributes.properties,
    'provider-binary-uploaded': Type.Boolean(),
    // Ours.
    downloads: Type.Integer({ minimum: 0, description: 'How often its archive was downloaded.' }),
    permissions: Permissions(['can-delete', 'can-upload-asset']),
  },
  relationships: { 'registry-provider-version': Related('registry-provider-versions') },
  links: Exactly({
    'provider-binary-upload': Type.Optional(
      Type.String({ description: 'Takes the archive by PUT, without a token, for the next 25 hours.' }),
    ),
    'provider-binary-download': Type.Optional(
      Type.String({ description: 'Where the archive is for the next 15 minutes, without a token.' }),
    ),
  }),
})

const doc = documents('Provider platforms', 'The archives of a provider’s version, one for each platform.', {
  forbidden: 'The provider is one of the public registry.',
})

const docs = {
  list: doc('listProviderPlatforms', 'List the platforms of a version', { 200: answerPage(Platform) }),
  create: doc(
    'createProviderPlatform',
    'Add a platform to a version',
    { 201: answerOne(Platform) },
    { failures: { conflict: 'The version is revoked.' } },
  ),
  show: doc('showProviderPlatform', 'Show a platform', { 200: answerOne(Platform) }),
  remove: doc('removeProviderPlatform', 'Remove a platform', { 204: NOTHING }),
}

async function toResource(ctx: Ctx, platform: PlatformDetails): Promise<Resource> {
  const { id, version, binaryBlob } = platform
  const { id: providerId, organizationId } = version.provider
  const manages = await can(ctx, 'registry-provider-versions:manage', organizationId, providerId)
  return {
    id,
    type: TYPE,
    attributes: {
      os: platform.os,
      arch: platform.arch,
      filename: platform.filename,
      shasum: platform.shasum,
      'provider-binary-uploaded': binaryBlob !== null,
      downloads: version.platforms.find((each) => each.id === id)?.downloads ?? 0,
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: { 'registry-provider-version': toOne('registry-provider-versions', version.id) },
    links: fileLink(ctx, {
      name: 'provider-binary',
      kind: BINARY,
      id,
      filename: platform.filename,
      isUploaded: binaryBlob !== null,
      mayUpload: manages,
      requestedBy: consumers.requesterOf(ctx),
    }),
  }
}

const platformOf = (path: PathParams) => ({
  ...addressOf(path),
  version: path.version,
  os: path.os,
  arch: path.arch,
})

export const routes: Routes = (app) => {
  const collection =
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions/:version/platforms'
  const member = `${collection}/:os/:arch`

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path, page, href }) => {
    const platforms = await service.list(ctx, platformOf(path), page)
    return many(platforms, href, (platform) => toResource(ctx, platform))
  })

  app.post(
    collection,
    {
      // The documentation's sample and the Go client each send another type.
      schema: { body: input([TYPE, 'registry-provider-version-platforms', ''], Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => versions.getForChange(ctx, addressOf(path), path.version),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, platformOf(path), body.data.attributes)
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(await toResource(ctx, await service.get(ctx, platformOf(path)))),
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, platformOf(path))
    return reply.code(204).send()
  })

  mountUpload(app, {
    ...ARCHIVE,
    expect: service.expectBinary,
    accept: service.acceptBinary,
    maxBytes: (ctx) => ctx.config.maxUploadBytes,
  })

  mountDownload(app, ARCHIVE, async (ctx, id, requestedBy) => {
    const { key: blobKey, size, sha256, filename } = await service.getBinary(ctx, id)
    const onBegin = () => consumers.noteDownload(ctx, id, requestedBy)
    return { blobKey, size, sha256, filename, contentType: 'application/zip', onBegin }
  })
}
