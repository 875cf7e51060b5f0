import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerPlain, Exactly, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { MAX_PORT, MIN_PORT, TERRAFORM_CLI } from '../oauth/service.ts'

/** Where each service of this host is; relative, so that it holds behind any proxy and under any name. */
const SERVICES = {
  'login.v1': {
    client: TERRAFORM_CLI,
    grant_types: ['authz_code'],
    authz: '/oauth/authorize',
    token: '/oauth/token',
    ports: [MIN_PORT, MAX_PORT],
  },
  'modules.v1': '/api/registry/v1/modules/',
  'providers.v1': '/api/registry/v1/providers/',
  'state.v2': '/api/v2/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
}

const Ready = Exactly({
  status: Type.String({ examples: ['ok'] }),
  problems: Type.Array(Type.String(), { description: 'What keeps the server from serving.', examples: [[]] }),
})

const doc = documents('Server', 'What the server is, and how it is.')

const docs = {
  services: doc('discoverServices', 'Tell where the services of this host are', {
    200: answerPlain('Their addresses, by name and version.', Type.Record(Type.String(), Type.Unknown())),
  }),
  ping: doc('ping', 'Tell the versions of the API in headers', { 204: NOTHING }),
  health: doc('showHealth', 'Tell that the process lives', {
    200: answerPlain('It does.', Exactly({ status: Type.String({ examples: ['ok'] }) })),
  }),
  ready: doc('showReadiness', 'Tell whether the server can serve', {
    200: answerPlain('It can.', Ready),
    503: answerPlain('It cannot now.', Ready),
  }),
}

export const routes: Routes = (app) => {
  app.get(
    '/.well-known/terraform.json',
    { config: { public: true, doc: docs.services } },
    async (_request, reply) => {
      return reply.type('application/json').send(SERVICES)
    },
  )

  // Clients read its headers only, some of them before they have a token.
  app.get('/api/v2/ping', { config: { public: true, doc: docs.ping } }, async (_request, reply) =>
    reply.code(204).send(),
  )

  app.get('/healthz', { config: { public: true, doc: docs.health } }, async (_request, reply) => {
    return reply.type('application/json').send({ status: 'ok' })
  })

  app.get('/readyz', { config: { public: true, doc: docs.ready } }, async ({ ctx }, reply) => {
    const problems = await ctx.notReady()
    return reply
      .code(problems.length === 0 ? 200 : 503)
      .type('application/json')
      .send({ status: problems.length === 0 ? 'ok' : 'unavailable', problems })
  })
}
