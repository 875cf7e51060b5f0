import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../http/cookies.ts'
import { formToken, refuseForeignForm } from '../../http/forms.ts'
import { type Html, html } from '../../http/html.ts'
import { type Page, sendOn } from '../../http/pages.ts'
import { newSecret } from '../../lib/ids.ts'
import * as service from './service.ts'

export const SESSION_COOKIE = 'plinth-session'

/** Stands for the browser while nobody is signed in, so that the form to sign in cannot be forged either. */
export const VISITOR_COOKIE = 'plinth-visitor'

/** Who is signed in in the browser that sent the request, which speaks for them from now on. */
export async function findSignedIn(request: FastifyRequest): Promise<service.SignedIn | undefined> {
  const secret = readCookie(request, SESSION_COOKIE)
  return secret === undefined ? undefined : service.resume(request.ctx, secret)
}

/** Sends the browser to sign in, and from there back to the address of this request. */
export function sendToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendOn(reply, `/sign-in?${new URLSearchParams({ to: request.url })}`)
}

/** The hidden field of every form for whoever is signed in. */
export function sessionField(request: FastifyRequest): Html {
  return tokenField(readCookie(request, SESSION_COOKIE) ?? '')
}

/** Ends the request unless one of our pages sent the form, in the browser of whoever is signed in. */
export function refuseForeign(request: FastifyRequest): void {
  refuseForeignForm(request, readCookie(request, SESSION_COOKIE))
}

/** The form to sign out, which leads to `to`. */
export function signOutForm(request: FastifyRequest, to: string): Html {
  return html`<form method="post" action="/sign-out">
${sessionField(request)}
<input type="hidden" name="to" value="${to}">
<button>Sign out</button>
</form>`
}

export function signedInPage(request: FastifyRequest, { user }: service.SignedIn): Page {
  return {
    title: 'Signed in',
    body: html`<p>You are signed in as <strong>${user.username}</strong>.</p>
${signOutForm(request, '/sign-in')}`,
  }
}

interface SignInAttempt {
  to: string
  login?: string | undefined
  /** Why the last attempt did not succeed. */
  problem?: string
  status?: number
}

export function signInPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { to, login, problem, status }: SignInAttempt,
): Page {
  const hidden = html`${tokenField(visitorSecret(request, reply))}<input type="hidden" name="to" value="${to}">`
  return {
    title: 'Sign in',
    ...(status !== undefined && { status }),
    body: html`${problem === undefined ? undefined : html`<p role="alert">${problem}</p>`}
<form method="post" action="/sign-in">
${hidden}
<label for="login">Username or e-mail</label>
<input id="login" name="login" autocomplete="username" autocapitalize="none" required value="${login ?? ''}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
<h2>With an API token</h2>
<form method="post" action="/sign-in">
${hidden}
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="off" required>
<button>Sign in with the token</button>
</form>`,
  }
}

function visitorSecret(request: FastifyRequest, reply: FastifyReply): string {
  const known = readCookie(request, VISITOR_COOKIE)
  if (known) return known
  const value = newSecret()
  setCookie(request, reply, VISITOR_COOKIE, { value })
  return value
}

function tokenField(secret: string): Html {
  return html`<input type="hidden" name="form-token" value="${formToken(secret)}">`
}
