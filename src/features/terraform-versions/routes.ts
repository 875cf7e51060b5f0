import { authorizeSiteAdmin } from '../../auth/authorize.ts'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { About, Changes, input, Nullable, OneOf, Search, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Exactly, Moment, NOTHING, Shown } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import type { TerraformVersion } from './service.ts'
import * as service from './service.ts'

const TYPE = 'terraform-versions'

const Url = Type.String({
  maxLength: 2000,
  pattern: '^https?://[^\\s]+$',
  'x-rule': 'an http:// or https:// address',
  description: 'Where the archive is fetched from.',
})

const Sha = Type.String({
  pattern: '^[0-9a-fA-F]{64}$',
  'x-rule': '64 hexadecimal digits',
  description: 'The SHA-256 of the archive.',
})

const Architecture = Type.Object(
  { url: Url, sha: Sha, os: OneOf('linux'), arch: OneOf('amd64', 'arm64') },
  { additionalProperties: false },
)

const Switch = (description: string) => Type.Optional(Nullable(About(description, Type.Boolean())))

const Attributes = Type.Object({
  version: Text({ description: 'A semantic version.', examples: ['1.14.1'] }),
  url: Type.Optional(Nullable(Url)),
  sha: Type.Optional(Nullable(Sha)),
  archs: Type.Optional(
    Nullable(
      Type.Array(Architecture, {
        maxItems: 2,
        description: 'Where its archive is for each architecture, and its SHA-256.',
        examples: [[]],
      }),
    ),
  ),
  official: Switch('Whether it is a release of its makers, which cannot be removed.'),
  enabled: Switch('Whether runs may use it.'),
  beta: Switch('Whether it is not a release.'),
  deprecated: Switch('Whether workspaces should move on to another one.'),
  'deprecated-reason': Type.Optional(
    Nullable(Type.String({ maxLength: 1000, description: 'Why they should.' })),
  ),
})

const List = Type.Object({
  'filter[version]': Type.Optional(Type.String({ maxLength: 255, description: 'Only this version.' })),
  'search[version]': Search('Only versions that contain this text.'),
})

const Version = Shown('TerraformVersion', TYPE, {
  id: 'tool-L4oe7rNwn7J4E5Yr',
  attributes: {
    version: Attributes.properties.version,
    url: Nullable(About('The archive for Linux on amd64.', Type.String())),
    sha: Nullable(About('The SHA-256 of that archive.', Type.String())),
    archs: Type.Array(Exactly({ ...Architecture.properties }), {
      description: 'Archives; without any they are fetched from where all are.',
    }),
    official: Type.Boolean(),
    enabled: Type.Boolean(),
    beta: Type.Boolean(),
    deprecated: Type.Boolean(),
    'deprecated-reason': Nullable(Type.String()),
    usage: Type.Integer({ minimum: 0, description: 'Workspaces that ask for exactly this version.' }),
    'created-at': Moment('When it was added.'),
  },
})

const doc = documents('Terraform versions', 'The versions of the engine that runs may use.', {
  notFound: 'It does not exist, or the caller is no site administrator.',
})

const docs = {
  list: doc('listTerraformVersions', 'List the versions of the engine, the highest first', {
    200: answerPage(Version),
  }),
  create: doc('createTerraformVersion', 'Add a version of the engine', { 201: answerOne(Version) }),
  show: doc('showTerraformVersion', 'Show a version of the engine', { 200: answerOne(Version) }),
  update: doc('updateTerraformVersion', 'Change a version of the engine', { 200: answerOne(Version) }),
  remove: doc(
    'removeTerraformVersion',
    'Remove a version of the engine',
    { 204: NOTHING },
    { failures: { unprocessable: 'It is official, or workspaces use it.' } },
  ),
}

function toResource(version: TerraformVersion): Resource {
  const archs = service.archsOf(version)
  const amd64 = service.amd64Of(archs)
  return {
    id: version.id,
    type: TYPE,
    attributes: {
      version: version.version,
      url: amd64?.url ?? null,
      sha: amd64?.sha ?? null,
      archs,
      official: version.official,
      enabled: version.enabled,
      beta: version.beta,
      deprecated: version.deprecated,
      'deprecated-reason': version.deprecated ? (version.deprecatedReason ?? '') : null,
      usage: version.usage,
      'created-at': version.createdAt,
    },
  }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/admin/terraform-versions'

  app.get(
    collection,
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, query, page, href }) => {
      const filter = { version: query['filter[version]'], text: query['search[version]'] }
      return many(await service.list(ctx, filter, page), href, toResource)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: { doc: docs.create, access: async (ctx) => authorizeSiteAdmin(ctx) },
    },
    async ({ ctx, body }, reply) => {
      const created = await service.create(ctx, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toResource(created)))
    },
  )

  mountMember(app, `${collection}/:id`)
}

function mountMember(app: App, member: string): void {
  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.get(ctx, path.id))),
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, path.id) },
    },
    async ({ ctx, path, body }) =>
      one(toResource(await service.update(ctx, path.id, camelKeys(body.data.attributes)))),
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
