import type { FastifyReply } from 'fastify'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerPlain, NOTHING } from '../../http/shown.ts'
import { downloadLink } from '../registry-module-versions/resource.ts'
import { Details, toDetails, toVersions, Versions } from './schema.ts'
import * as service from './service.ts'

// The module registry protocol, which `terraform init` and `tofu init` speak, and the rest of the public registry's
// HTTP API for modules as far as clients read it. Clients send their token here but not to the archive, whose link
// therefore carries its own permission.

const doc = documents('Module registry protocol', 'What `terraform init` and `tofu init` install modules by.')

const docs = {
  versions: doc('listInstallableModuleVersions', 'List the versions of a module that can be installed', {
    200: answerPlain('All of them.', Versions),
  }),
  download: doc('findModuleArchive', 'Tell where a version can be downloaded from', {
    204: {
      ...NOTHING,
      description: 'The header `x-terraform-get` has the address, for the next 15 minutes.',
    },
  }),
  latestDownload: doc('findLatestModuleArchive', 'Tell where the latest version can be downloaded from', {
    204: {
      ...NOTHING,
      description: 'The header `x-terraform-get` has the address, for the next 15 minutes.',
    },
  }),
  details: doc('describeModuleVersion', 'Tell what a version of a module takes, gives and needs', {
    200: answerPlain('The module, with those in it.', Details),
  }),
  latest: doc('describeLatestModuleVersion', 'Tell the same of the latest version', {
    200: answerPlain('The module, with those in it.', Details),
  }),
}

export const routes: Routes = (app) => {
  const module = '/api/registry/v1/modules/:namespace/:name/:provider'
  const json = (reply: FastifyReply) => reply.type('application/json')

  app.get(`${module}/versions`, { config: { doc: docs.versions } }, async ({ ctx, path }, reply) =>
    json(reply).send(toVersions(await service.get(ctx, path))),
  )

  app.get(`${module}/:version/download`, { config: { doc: docs.download } }, async ({ ctx, path }, reply) => {
    const { chosen } = await service.getVersion(ctx, path, path.version)
    return reply.code(204).header('x-terraform-get', downloadLink(ctx, chosen)).send()
  })

  app.get(`${module}/download`, { config: { doc: docs.latestDownload } }, async ({ ctx, path }, reply) => {
    const { chosen } = await service.getVersion(ctx, path)
    return reply.code(204).header('x-terraform-get', downloadLink(ctx, chosen)).send()
  })

  app.get(`${module}/:version`, { config: { doc: docs.details } }, async ({ ctx, path }, reply) => {
    const found = await service.getVersion(ctx, path, path.version)
    return json(reply).send(toDetails(found, await service.describe(ctx, found.chosen)))
  })

  app.get(module, { config: { doc: docs.latest } }, async ({ ctx, path }, reply) => {
    const found = await service.getVersion(ctx, path)
    return json(reply).send(toDetails(found, await service.describe(ctx, found.chosen)))
  })
}
