import type { FastifyError, FastifyRequest } from 'fastify'
import { FORM, FORM_FAILURES, type Form, parseForms, queryOf } from '../../http/forms.ts'
import { documents } from '../../http/operation.ts'
import { mountPages, sendOn, sendPage } from '../../http/pages.ts'
import type { App, Routes } from '../../http/routes.ts'
import { answerFile, answerPlain, Exactly, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { findSignedIn, refuseForeign, sendToSignIn } from '../sessions/pages.ts'
import { consentPage } from './pages.ts'
import * as service from './service.ts'

const ELSEWHERE = { ...NOTHING, description: 'The browser is sent on: to sign in, or back to the client.' }

const doc = documents(
  'Signing in',
  'How people sign in with a browser, and how `terraform login` gets a token.',
)

const docs = {
  ask: doc(
    'showConsent',
    'Ask the person in front of the browser whether a client may have a token',
    {
      200: answerFile('The page that asks.', 'text/html'),
      303: ELSEWHERE,
    },
    { failures: { badRequest: 'It is no request of a client.' } },
  ),
  answer: doc(
    'answerConsent',
    'Tell what the person answered',
    { 303: ELSEWHERE },
    {
      upload: FORM,
      failures: { ...FORM_FAILURES, badRequest: 'It is no request of a client.' },
    },
  ),
  redeem: doc(
    'redeemCode',
    'Turn the code of a consent into a token',
    {
      200: answerPlain(
        'The token.',
        Exactly({ access_token: Type.String(), token_type: Type.Literal('bearer') }),
      ),
      400: answerPlain(
        'The code is not good: RFC 6749, section 5.2.',
        Exactly({ error: Type.String({ examples: ['invalid_grant'] }), error_description: Type.String() }),
      ),
    },
    { upload: FORM, failures: FORM_FAILURES },
  ),
}

export const routes: Routes = (app) => {
  mountPages(app, (scope) => {
    scope.get('/oauth/authorize', { config: { public: true, doc: docs.ask } }, async (request, reply) => {
      const asked = readRequest(request)
      if ('error' in asked) return sendOn(reply, service.refuse(asked))
      const signedIn = await findSignedIn(request)
      if (!signedIn) return sendToSignIn(request, reply)
      return sendPage(reply, consentPage(request, signedIn, asked))
    })

    scope.post('/oauth/authorize', { config: { public: true, doc: docs.answer } }, async (request, reply) => {
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
  scope.post('/oauth/token', { config: { public: true, doc: docs.redeem } }, async ({ ctx, body }) => {
    return { access_token: await service.redeem(ctx, body as Form), token_type: 'bearer' }
  })
}
