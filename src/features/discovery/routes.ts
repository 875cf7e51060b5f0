import type { Routes } from '../../http/routes.ts'
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
  'providers.v1': '/api/registry/v1/providers/',
  'state.v2': '/api/v2/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
}

export const routes: Routes = (app) => {
  const config = { public: true } as const

  app.get('/.well-known/terraform.json', { config }, async (_request, reply) => {
    return reply.type('application/json').send(SERVICES)
  })

  // Clients read its headers only, some of them before they have a token.
  app.get('/api/v2/ping', { config }, async (_request, reply) => reply.code(204).send())

  app.get('/healthz', { config }, async (_request, reply) => {
    return reply.type('application/json').send({ status: 'ok' })
  })

  app.get('/readyz', { config }, async ({ ctx }, reply) => {
    const problems = await ctx.notReady()
    return reply
      .code(problems.length === 0 ? 200 : 503)
      .type('application/json')
      .send({ status: problems.length === 0 ? 'ok' : 'unavailable', problems })
  })
}
