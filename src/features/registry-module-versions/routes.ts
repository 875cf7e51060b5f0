import type { Ctx } from '../../context.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, PathParams, Routes } from '../../http/routes.ts'
import { input, Nullable, OneOf } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { mountDownload, mountUpload } from '../../http/storage.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import { addressOf, getPrivate, type ModuleAddress, privateAddress } from '../registry-modules/service.ts'
import * as archive from './archive.ts'
import {
  ARCHIVE,
  CommitSha,
  DeprecatedVersion,
  ShownVersion,
  TYPE,
  toDeprecatedVersion,
  toDeprecation,
  toResource,
  Version,
} from './resource.ts'
import * as service from './service.ts'

const Attributes = Type.Object({ version: Version, 'commit-sha': CommitSha })

const Deprecation = Type.Object({
  'deprecated-status': OneOf('Deprecated', 'Undeprecated'),
  reason: Type.Optional(
    Nullable(Type.String({ maxLength: 1000, examples: ['It opens a port to everybody.'] })),
  ),
  link: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 2048,
        pattern: '^https?://\\S+$',
        'x-rule': 'an http:// or https:// address',
        examples: ['https://example.com/migrate'],
      }),
    ),
  ),
})

const Change = Type.Object({ deprecation: Deprecation })

const Wanted = Type.Object({
  module_version: Type.String({ description: 'The version to show.', examples: ['1.2.3'] }),
})

const doc = documents('Module versions', 'The versions of the modules of the private registry.', {
  forbidden: 'The module is one of the public registry.',
})

const OLDER = { description: 'The older address; use those below the organization.' }

const docs = {
  list: doc('listModuleVersions', 'List the versions of a module', { 200: answerPage(ShownVersion) }),
  create: doc('createModuleVersion', 'Announce a version of a module', { 201: answerOne(ShownVersion) }),
  show: doc('showModuleVersion', 'Show a version', { 200: answerOne(ShownVersion) }),
  showWanted: doc('findModuleVersion', 'Show the version that the query names', {
    200: answerOne(ShownVersion),
  }),
  deprecate: doc(
    'deprecateModuleVersion',
    'Deprecate a version, or take that back',
    { 200: answerOne(DeprecatedVersion, ['deprecation']) },
    { failures: { conflict: 'The version is not published.' } },
  ),
  remove: doc('removeModuleVersion', 'Remove a version; the last one takes its module along', {
    204: NOTHING,
  }),
  olderCreate: doc(
    'createModuleVersionByOlderAddress',
    'Announce a version of a private module',
    { 201: answerOne(ShownVersion) },
    OLDER,
  ),
  olderRemove: doc(
    'removeModuleVersionByOlderAddress',
    'Remove a version of a private module',
    { 204: NOTHING },
    OLDER,
  ),
}

const olderAddress = (path: PathParams) => privateAddress(path.organization_name, path.name, path.provider)

export const routes: Routes = (app) => {
  const module =
    '/api/v2/organizations/:organization_name/registry-modules/:registry_name/:namespace/:name/:provider'
  const older = '/api/v2/registry-modules'

  app.get(`${module}/versions`, { config: { doc: docs.list } }, async ({ ctx, path, page, href }) =>
    many(await service.list(ctx, addressOf(path), page), href, (version) => toResource(ctx, version)),
  )
  mountCreate(app, `${module}/versions`, docs.create, addressOf)
  mountCreate(app, `${older}/:organization_name/:name/:provider/versions`, docs.olderCreate, olderAddress)

  app.get(
    `${module}/version`,
    { schema: { querystring: Wanted }, config: { doc: docs.showWanted } },
    async ({ ctx, path, query }) =>
      one(await toResource(ctx, await service.get(ctx, addressOf(path), query.module_version))),
  )

  mountMember(app, `${module}/:version`)

  app.post(
    `${older}/actions/delete/:organization_name/:name/:provider/:version`,
    { config: { doc: docs.olderRemove } },
    async ({ ctx, path }, reply) => {
      await service.remove(ctx, olderAddress(path), path.version)
      return reply.code(204).send()
    },
  )

  mountArchive(app)
}

function mountCreate(
  app: App,
  url: string,
  operation: typeof docs.create,
  addressIn: (path: PathParams) => ModuleAddress,
): void {
  app.post(
    url,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: operation,
        access: (ctx: Ctx, path: PathParams) => getPrivate(ctx, addressIn(path), 'registry-modules:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, addressIn(path), camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )
}

function mountMember(app: App, member: string): void {
  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(await toResource(ctx, await service.get(ctx, addressOf(path), path.version))),
  )

  app.patch(
    member,
    {
      schema: { body: input(['module-versions', TYPE], Change) },
      config: {
        doc: docs.deprecate,
        access: (ctx, path) => service.get(ctx, addressOf(path), path.version, 'registry-modules:manage'),
      },
    },
    async ({ ctx, path, body }) => {
      const { 'deprecated-status': status, reason = null, link = null } = body.data.attributes.deprecation
      const deprecation = status === 'Deprecated' ? { reason, link } : null
      const changed = await service.deprecate(ctx, addressOf(path), path.version, deprecation)
      return one(toDeprecatedVersion(changed), deprecation ? [toDeprecation(changed)] : undefined)
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, addressOf(path), path.version)
    return reply.code(204).send()
  })
}

function mountArchive(app: App): void {
  const file = { kind: ARCHIVE, name: 'ModuleArchive', about: 'the archive of a module’s version' }
  mountUpload(app, {
    ...file,
    expect: archive.expect,
    accept: archive.accept,
    maxBytes: (ctx) => ctx.config.maxModuleBytes,
    limitedBy: 'PLINTH_MAX_MODULE_BYTES',
  })
  mountDownload(app, file, async (ctx, id) => {
    const { key: blobKey, size, sha256, filename, onBegin } = await archive.getArchive(ctx, id)
    return { blobKey, size, sha256, filename, contentType: 'application/gzip', onBegin }
  })
}
