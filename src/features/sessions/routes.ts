import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../http/cookies.ts'
import { FORM, FORM_FAILURES, type Form, queryOf, refuseForeignForm } from '../../http/forms.ts'
import { documents } from '../../http/operation.ts'
import { mountPages, sendOn, sendPage } from '../../http/pages.ts'
import type { Routes } from '../../http/routes.ts'
import { answerFile, NOTHING } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import {
  findSignedIn,
  refuseForeign,
  SESSION_COOKIE,
  signedInPage,
  signInPage,
  VISITOR_COOKIE,
} from './pages.ts'
import * as service from './service.ts'

const PAGE = answerFile('A page.', 'text/html')
const ELSEWHERE = { ...NOTHING, description: 'The browser is sent on.' }

const doc = documents(
  'Signing in',
  'How people sign in with a browser, and how `terraform login` gets a token.',
)

const docs = {
  show: doc('showSignIn', 'Show the page to sign in with', { 200: PAGE, 303: ELSEWHERE }),
  signIn: doc(
    'signIn',
    'Sign in with a name and a password, or with a token',
    { 303: ELSEWHERE },
    {
      upload: FORM,
      failures: { ...FORM_FAILURES, unauthorized: 'The name, the password or the token is not right.' },
    },
  ),
  signOut: doc(
    'signOut',
    'End the session of the browser',
    { 303: ELSEWHERE },
    {
      upload: FORM,
      failures: FORM_FAILURES,
    },
  ),
}

/** The same for a wrong password and an unknown name, so that nobody learns which names exist. */
const REFUSED = 'That is not right. Check the name and the password, or the token.'

export const routes: Routes = (app) => {
  mountPages(app, (scope) => {
    scope.get('/sign-in', { config: { public: true, doc: docs.show } }, async (request, reply) => {
      const to = localAddress(queryOf(request)['to'])
      const signedIn = await findSignedIn(request)
      if (!signedIn) return sendPage(reply, signInPage(request, reply, { to }))
      return to === '/sign-in' ? sendPage(reply, signedInPage(request, signedIn)) : sendOn(reply, to)
    })

    scope.post('/sign-in', { config: { public: true, doc: docs.signIn } }, async (request, reply) => {
      refuseForeignForm(request, readCookie(request, VISITOR_COOKIE))
      const form = request.body as Form
      const to = localAddress(form['to'])
      try {
        const session = await signIn(request, form)
        if (session) return sendOn(startSession(request, reply, session), to)
        return sendPage(reply, signInPage(request, reply, { ...refusal(form, REFUSED, 401), to }))
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'tooManyRequests')) throw error
        reply.header('retry-after', error.retryAfter)
        return sendPage(reply, signInPage(request, reply, { ...refusal(form, error.message, 429), to }))
      }
    })

    scope.post('/sign-out', { config: { public: true, doc: docs.signOut } }, async (request, reply) => {
      const signedIn = await findSignedIn(request)
      const to = localAddress((request.body as Form)['to'])
      if (!signedIn) return sendOn(reply, to)
      refuseForeign(request)
      await service.end(request.ctx, readCookie(request, SESSION_COOKIE) ?? '')
      setCookie(request, reply, SESSION_COOKIE, { value: '', maxAge: 0 })
      return sendOn(reply, to)
    })
  })
}

function signIn({ ctx, ip }: FastifyRequest, form: Form): Promise<service.NewSession | undefined> {
  const { login = '', password = '', token } = form
  return token === undefined
    ? service.signIn(ctx, { login, password }, ip)
    : service.signInWithToken(ctx, token, ip)
}

/** Never the cookie that the browser had before: somebody else may know that one. */
function startSession(request: FastifyRequest, reply: FastifyReply, { secret }: service.NewSession) {
  setCookie(request, reply, SESSION_COOKIE, { value: secret, maxAge: service.LIFETIME_SECONDS })
  setCookie(request, reply, VISITOR_COOKIE, { value: '', maxAge: 0 })
  return reply
}

function refusal({ login }: Form, problem: string, status: number) {
  return { login, problem, status }
}

/** A path of this server, query included; whatever leads elsewhere is replaced by the page to sign in. */
function localAddress(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,4000}$/.test(to) ? to : '/sign-in'
}
