import type { FastifyError, FastifyRequest } from 'fastify'
import { type Form, parseForms, queryOf } from '../../http/forms.ts'
import { mountPages, sendOn, sendPage } from '../../http/pages.ts'
import type { App, Routes } from '../../http/routes.ts'
import { findSignedIn, refuseForeign, sendToSignIn } from '../sessions/pages.ts'
import { consentPage } from './pages.ts'
import * as service from './service.ts'

const config = { public: true } as const

export const routes: Routes = (app) => {
  mountPages(app, (scope) => {
    scope.get('/oauth/authorize', { config }, async (request, reply) => {
      const asked = readRequest(request)
      if ('error' in asked) return sendOn(reply, service.refuse(asked))
      const signedIn = await findSignedIn(request)
      if (!signedIn) return sendToSignIn(request, reply)
      return sendPage(reply, consentPage(request, signedIn, asked))
    })

    scope.post('/oauth/authorize', { config }, async (request, reply) => {
      const asked = readRequest(request)
      if ('error' in asked) return sendOn(reply, service.refuse(asked))
      if (!(await findSignedIn(request))) return sendToSignIn(request, reply)
      refuseForeign(request)
      const approved = (request.body as Form)['decision'] === 'approve'
      return sendOn(reply, approved ? await service.approve(request.ctx, asked) : service.deny(asked))
    })
  })

  app.register(async (scope) => mountToken(scope as App))
}

/** The form's own address carries the request, so that signing in leads back to it whole. */
function readRequest(request: FastifyRequest): service.AuthorizationRequest | service.RefusedRequest {
  return service.readRequest(queryOf(request))
}

/** Speaks to programs, in plain JSON as OAuth has it. */
function mountToken(scope: App): void {
  parseForms(scope)
  scope.addHook('onRequest', async (_request, reply) => {
    reply.type('application/json').headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
  })
  scope.setErrorHandler((error: FastifyError | service.OAuthError, _request, reply) => {
    if (!(error instanceof service.OAuthError)) throw error
    return reply.code(400).send({ error: error.code, error_description: error.message })
  })
  scope.post('/oauth/token', { config }, async ({ ctx, body }) => {
    return { access_token: await service.redeem(ctx, body as Form), token_type: 'bearer' }
  })
}
