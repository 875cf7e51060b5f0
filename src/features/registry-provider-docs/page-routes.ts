import type { FastifyReply, FastifyRequest } from 'fastify'
import { queryOf } from '../../http/forms.ts'
import { documents } from '../../http/operation.ts'
import { mountPages, sendPage } from '../../http/pages.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { answerFile, NOTHING } from '../../http/shown.ts'
import { notFound } from '../../lib/errors.ts'
import { PageRequest } from '../../lib/pagination.ts'
import { findSignedIn, sendToSignIn } from '../sessions/pages.ts'
import { docPage, foundPage } from './pages.ts'
import * as service from './service.ts'

/** Pages that a search shows. */
const FOUND = '50'

const doc = documents('Provider documentation', 'What provider versions say about themselves, as pages.')

const ANSWERS = {
  200: answerFile('A page.', 'text/html'),
  303: { ...NOTHING, description: 'Nobody is signed in: the browser is sent to sign in, and back.' },
}

const failures = { notFound: 'There is no such page, or whoever is signed in may not read the registry.' }

const docs = {
  start: doc(
    'browseProviderDocs',
    'Show people the documentation of a provider version, or search it',
    ANSWERS,
    {
      description: 'The version may be `latest`. With `q`, the pages that have each of these words.',
      failures,
    },
  ),
  page: doc('browseProviderDoc', 'Show people a page of the documentation of a provider version', ANSWERS, {
    failures,
  }),
}

const addressOf = ({ organization_name: organizationName, name }: PathParams) => ({
  organizationName,
  registryName: 'private',
  namespace: organizationName,
  name,
})

/** For whoever is signed in with a browser. */
export const pageRoutes: Routes = (app) => {
  const start = '/registry/providers/:organization_name/:name/:version/docs'
  mountPages(app, (scope) => {
    scope.get(start, { config: { public: true, doc: docs.start } }, async (request, reply) => {
      if (!(await findSignedIn(request))) return sendToSignIn(request, reply)
      const q = queryOf(request)['q']?.trim()
      return q
        ? sendFound(request, reply, q)
        : sendDoc(request, reply, { category: 'overview', slug: 'index' })
    })

    scope.get(
      `${start}/:category/:slug`,
      { config: { public: true, doc: docs.page } },
      async (request, reply) => {
        if (!(await findSignedIn(request))) return sendToSignIn(request, reply)
        return sendDoc(request, reply, request.path, notFound)
      },
    )
  })
}

/** What there is to read; `orThrow` makes the error where there has to be a page. */
async function sendDoc(
  { ctx, path }: FastifyRequest,
  reply: FastifyReply,
  place: { category: string; slug: string },
  orThrow?: () => Error,
) {
  const browsed = await service.browse(ctx, addressOf(path), path.version, place)
  if (orThrow && !browsed.shown) throw orThrow()
  return sendPage(
    reply,
    docPage(browsed, service.addressesOf(browsed.version), service.pathOf(browsed.version)),
  )
}

async function sendFound({ ctx, path }: FastifyRequest, reply: FastifyReply, q: string) {
  const address = addressOf(path)
  const { version } = await service.browse(ctx, address, path.version)
  const found = await service.list(ctx, address, version.version, { q }, new PageRequest('1', FOUND))
  return sendPage(
    reply,
    foundPage({ version }, { ...found, q }, service.addressesOf(version), service.pathOf(version)),
  )
}
