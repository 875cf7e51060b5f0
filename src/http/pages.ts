import { createHash } from 'node:crypto'
import type { FastifyError, FastifyReply } from 'fastify'
import { AppError, FAILURES } from '../lib/errors.ts'
import { parseForms } from './forms.ts'
import { Html, html } from './html.ts'
import type { App } from './routes.ts'

// Pages for people: HTML without scripts, forms without JSON. All else speaks JSON:API.

const STYLE = `
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 30rem; padding: 3rem 1rem }
body.wide { max-width: 60rem }
h1 { font-size: 1.5rem }
h2 { font-size: 1.125rem; margin-top: 2.5rem }
h3 { font-size: 1rem }
label { display: block; font-weight: 600; margin-top: 1rem }
input { box-sizing: border-box; font: inherit; margin-top: .25rem; padding: .5rem; width: 100% }
button { font: inherit; margin: 1.25rem .5rem 0 0; padding: .5rem 1.25rem }
dt { font-weight: 600 }
dt a, dt i { font-weight: 400 }
dd { margin: 0 0 .75rem; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
td { border-top: 1px solid #8884; padding: .25rem .75rem .25rem 0; vertical-align: top }
td p, td dl { margin: 0 }
code, pre { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { overflow-x: auto }
p.note, p.warning, p.danger { border-left: .25rem solid #1565c0; padding: .25rem .75rem }
p.warning { border-color: #f9a825 }
p.danger { border-color: #c62828 }
[role=alert] { border-left: .25rem solid #c62828; padding: .25rem .75rem }
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

export interface Page {
  title: string
  body: Html
  status?: number
  /** An origin besides ours that a form of the page may lead to. */
  leadsTo?: string
  /** For what has long lines. */
  wide?: boolean
  /** The address of an Atom feed about the same. */
  feed?: string
}

/** Declares routes that show pages and take forms; what they throw becomes a page as well. */
export function mountPages(app: App, declare: (scope: App) => void): void {
  app.register(async (scope) => {
    parseForms(scope)
    scope.setErrorHandler((error: FastifyError | AppError, _request, reply) => {
      // What the caller did not cause is logged and answered where all such errors are.
      if (!(error instanceof AppError) || FAILURES[error.code].status >= 500) throw error
      const { status, title } = FAILURES[error.code]
      if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
      return sendPage(reply, { title: capitalized(title), status, body: html`<p>${error.message}</p>` })
    })
    declare(scope)
  })
}

/** Answers with a page that no other site can frame, and that loads and runs nothing. */
export function sendPage(reply: FastifyReply, page: Page) {
  return secured(reply, page.leadsTo)
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(String(layout(page)))
}

/** Sends the browser on, after a form as after a link. */
export function sendOn(reply: FastifyReply, address: string) {
  return secured(reply).removeHeader('content-type').redirect(address, 303)
}

function secured(reply: FastifyReply, leadsTo?: string): FastifyReply {
  // Browsers apply form-action to where a form's answer redirects, too.
  const formAction = leadsTo ? `'self' ${leadsTo}` : "'self'"
  return reply.headers({
    'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
    'x-frame-options': 'DENY',
    // Not no-referrer, which would make browsers hide the origin that forms are checked by.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  })
}

function layout({ title, body, wide, feed }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Plinth</title>
${
  feed &&
  html`<link rel="alternate" type="application/atom+xml" href="${feed}">
`
}<style>${new Html(STYLE)}</style>
</head>
<body${wide ? html` class="wide"` : ''}>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
