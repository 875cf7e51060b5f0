import type { FastifyReply } from 'fastify'
import { getFile } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { includable } from '../../http/includes.ts'
import { one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, PathParams, Routes } from '../../http/routes.ts'
import { answerOne, answerPlain, NOTHING } from '../../http/shown.ts'
import { mountDownload } from '../../http/storage.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import { Type } from '../../lib/type.ts'
import { ShownPlan, TYPE, toResource } from './resource.ts'
import type { Plan, PlanFile } from './service.ts'
import * as service from './service.ts'

const doc = documents('Plans', 'What runs would change.')

const Redirect = answerPlain(
  'A link to the document, which holds for a quarter of an hour.',
  Type.String(),
  'text/plain',
)
const answers = { 307: Redirect, 204: { ...NOTHING, description: 'There is none, or not yet.' } }

/** The documents of a plan. What values are sensitive can be read in those for which state must be readable. */
const DOCUMENTS = [
  { file: 'json-output', name: 'PlanJson', about: 'the plan as JSON', permission: 'state-versions:read' },
  {
    file: 'json-output-redacted',
    name: 'RedactedPlanJson',
    about: 'the plan as JSON, without sensitive values',
    permission: 'runs:read',
  },
  {
    file: 'json-schema',
    name: 'PlanSchema',
    about: 'the schemas of the providers of a plan',
    permission: 'runs:read',
  },
] as const

type Document = (typeof DOCUMENTS)[number]

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) =>
    (await service.listVisible(ctx, ids)).map((plan) => toResource(ctx, plan)),
  )

  app.get(
    '/api/v2/plans/:id',
    { config: { doc: doc('showPlan', 'Show a plan', { 200: answerOne(ShownPlan) }) } },
    async ({ ctx, path }) => one(toResource(ctx, await service.get(ctx, path.id))),
  )

  for (const document of DOCUMENTS) mountDocument(app, document)
}

function mountDocument(app: App, { file, name, about, permission }: Document): void {
  const members = [
    {
      url: `/api/v2/plans/:id/${file}`,
      suffix: '',
      get: (ctx: Ctx, path: PathParams) => service.get(ctx, path.id, permission),
    },
    {
      url: `/api/v2/runs/:id/plan/${file}`,
      suffix: 'OfRun',
      get: (ctx: Ctx, path: PathParams) => service.getOfRun(ctx, path.id, permission),
    },
  ]
  for (const { url, suffix, get } of members) {
    const config = { doc: doc(`show${name}${suffix}`, `Fetch ${about}${suffix && ' of a run'}`, answers) }
    app.get(url, { config }, async ({ ctx, path }, reply) => redirect(ctx, reply, await get(ctx, path), file))
  }
  mountDownload(app, { kind: `plan-${file}`, name, about }, async (ctx, id) => {
    const blob = await getFile(ctx, `plans/${id}/${file}`)
    return {
      blobKey: blob.key,
      size: blob.size,
      sha256: blob.sha256,
      filename: `${id}-${file}.json`,
      contentType: 'application/json',
      sealed: true,
    }
  })
}

function redirect(ctx: Ctx, reply: FastifyReply, plan: Plan, file: PlanFile): FastifyReply {
  if (!service.keyOf(plan, file)) return reply.code(204).send()
  const target = { method: 'GET', kind: `plan-${file}`, id: plan.id } as const
  const location = ctx.links.sign(target, ctx.now(), DOWNLOAD_SECONDS)
  return reply
    .code(307)
    .header('location', location)
    .header('cache-control', 'no-store')
    .type('text/plain')
    .send('307 Temporary Redirect')
}
