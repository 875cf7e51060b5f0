import type { FastifyReply } from 'fastify'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { About, Include, input, Nullable } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { mountDownload, mountUpload } from '../../http/storage.ts'
import { camelKeys } from '../../lib/case.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import { Type } from '../../lib/type.ts'
import * as workspaces from '../workspaces/service.ts'
import { KIND, ShownConfigurationVersion, TYPE, toNewResource, toResource } from './resource.ts'
import * as retirement from './retirement.ts'
import type { ConfigurationVersion } from './service.ts'
import * as service from './service.ts'
import * as upload from './upload.ts'

const Switch = (description: string) => Type.Optional(Nullable(About(description, Type.Boolean())))

const Attributes = Type.Object({
  'auto-queue-runs': Switch('Whether a run begins once the archive is there; true unless it is said.'),
  speculative: Switch('Whether it is for plans only.'),
  provisional: Switch('Whether it becomes the current one only when a run with it is applied.'),
})

/** Clients ask for both; there is no version control system, and what runs use it is not told. */
const INCLUDES = ['created-by', 'ingress-attributes', 'run']

const Show = Type.Object({ include: Include(INCLUDES) })

const doc = documents('Configuration versions', 'What is planned and applied: archives of configurations.')

const one200 = { 200: answerOne(ShownConfigurationVersion, INCLUDES) }
const redirect = {
  302: {
    description: 'A link to the archive, a gzipped tar, in `location`; it holds for a quarter of an hour.',
  },
}
const refused = { failures: { conflict: 'It is in another status, is the current one, or a run needs it.' } }

const docs = {
  list: doc('listConfigurationVersions', 'List the configuration versions of a workspace, the newest first', {
    200: answerPage(ShownConfigurationVersion, INCLUDES),
  }),
  create: doc('createConfigurationVersion', 'Make a configuration version', {
    201: answerOne(ShownConfigurationVersion),
  }),
  show: doc('showConfigurationVersion', 'Show a configuration version', one200),
  showOfRun: doc('showConfigurationVersionOfRun', 'Show the configuration version of a run', one200),
  fetch: doc('fetchConfiguration', 'Download the archive of a configuration version', redirect),
  fetchOfRun: doc('fetchConfigurationOfRun', 'Download the archive that a run uses', redirect),
  archive: doc(
    'archiveConfigurationVersion',
    'Drop the archive of a configuration version',
    { 202: NOTHING },
    refused,
  ),
}

/** What self-hosted clients do with archives, by the names of the actions. */
const ACTIONS = [
  {
    action: 'soft_delete_backing_data',
    change: retirement.softDelete,
    doc: doc(
      'softDeleteConfiguration',
      'Put the archive of a configuration version out of reach',
      one200,
      refused,
    ),
  },
  {
    action: 'restore_backing_data',
    change: retirement.restore,
    doc: doc('restoreConfiguration', 'Bring an archive that was put out of reach back', one200, refused),
  },
  {
    action: 'permanently_delete_backing_data',
    change: retirement.permanentlyDelete,
    doc: doc('permanentlyDeleteConfiguration', 'Drop an archive that was put out of reach', one200, refused),
  },
]

export const routes: Routes = (app) => {
  const collection = '/api/v2/workspaces/:id/configuration-versions'

  includable(TYPE, async (ctx, ids) => (await service.listVisible(ctx, ids)).map(toResource))

  app.get(
    collection,
    { schema: { querystring: Show }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const versions = await service.list(ctx, path.id, page)
      const resources = versions.items.map(toResource)
      const included = await include(ctx, query.include, INCLUDES, resources)
      return many({ ...versions, items: resources }, href, (resource) => resource, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => workspaces.get(ctx, { id: path.id }, 'runs:queue'),
      },
    },
    async ({ ctx, path, body, headers }, reply) => {
      // The `cloud` block of the CLI says so.
      const source = headers['x-terraform-integration'] === 'cloud' ? 'terraform+cloud' : 'tfe-api'
      const created = await service.create(ctx, path.id, camelKeys(body.data.attributes), source)
      return reply.code(201).send(one(toNewResource(ctx, created)))
    },
  )

  mountMembers(app)
  mountArchive(app)
}

const MEMBERS = [
  { member: '/api/v2/configuration-versions/:id', find: service.get, show: docs.show, fetch: docs.fetch },
  {
    member: '/api/v2/runs/:id/configuration-version',
    find: service.getOfRun,
    show: docs.showOfRun,
    fetch: docs.fetchOfRun,
  },
]

function mountMembers(app: App): void {
  for (const { member, find, show, fetch } of MEMBERS) {
    app.get(
      member,
      { schema: { querystring: Show }, config: { doc: show } },
      async ({ ctx, path, query }) => {
        const resource = toResource(await find(ctx, path.id))
        return one(resource, await include(ctx, query.include, INCLUDES, [resource]))
      },
    )

    app.get(`${member}/download`, { config: { doc: fetch } }, async ({ ctx, path }, reply) =>
      redirectToArchive(ctx, reply, await find(ctx, path.id)),
    )
  }

  const member = '/api/v2/configuration-versions/:id/actions'

  app.post(`${member}/archive`, { config: { doc: docs.archive } }, async ({ ctx, path }, reply) => {
    await retirement.archive(ctx, path.id)
    return reply.code(202).send()
  })

  for (const { action, change, doc } of ACTIONS) {
    app.post(`${member}/${action}`, { config: { doc } }, async ({ ctx, path }) =>
      one(toResource(await change(ctx, path.id))),
    )
  }
}

function redirectToArchive(ctx: Ctx, reply: FastifyReply, { id, status }: ConfigurationVersion) {
  if (status !== 'uploaded') throw notFound()
  const target = { method: 'GET', kind: KIND, id } as const
  return reply.redirect(ctx.links.sign(target, ctx.now(), DOWNLOAD_SECONDS, `${id}.tar.gz`), 302)
}

function mountArchive(app: App): void {
  const file = { kind: KIND, name: 'Configuration', about: 'the archive of a configuration version' }

  mountUpload(app, {
    ...file,
    sealed: true,
    expect: async (ctx, id) => {
      const { status } = await upload.getLinked(ctx, id)
      if (status !== 'pending' && status !== 'uploaded')
        throw new AppError('conflict', `The configuration version is ${status}; make another one.`)
    },
    accept: upload.accept,
    maxBytes: (ctx) => ctx.config.maxUploadBytes,
  })

  mountDownload(app, file, async (ctx, id) => {
    const { key: blobKey, size, sha256 } = await service.getArchive(ctx, id)
    return { blobKey, size, sha256, sealed: true, filename: `${id}.tar.gz`, contentType: 'application/gzip' }
  })
}
