import type { FastifyRequest } from 'fastify'
import { html } from '../../http/html.ts'
import type { Page } from '../../http/pages.ts'
import { sessionField, signOutForm } from '../sessions/pages.ts'
import type { SignedIn } from '../sessions/service.ts'
import type { AuthorizationRequest } from './service.ts'

/** Says who asks for what, where the answer goes, and in whose name; and lets the user decide. */
export function consentPage(
  request: FastifyRequest,
  { user }: SignedIn,
  { clientId, redirectUri }: AuthorizationRequest,
): Page {
  const { host, origin } = new URL(redirectUri)
  return {
    title: 'Allow a command line to use your account?',
    leadsTo: origin,
    body: html`<p>A command line (<code>terraform login</code> or <code>tofu login</code>) asks for an API token.
Approve only if you have just started it yourself, on this computer.</p>
<dl>
<dt>Who asks</dt><dd>${clientId}</dd>
<dt>Where the answer goes</dt><dd>${host}</dd>
<dt>What it may do</dt><dd>Everything that you may, until you revoke the token “terraform login”</dd>
<dt>As whom</dt><dd>${user.username} (${user.email})</dd>
</dl>
<form method="post" action="${request.url}">
${sessionField(request)}
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>
<h2>Not you?</h2>
${signOutForm(request, request.url)}`,
  }
}
