import type { Static } from 'typebox'
import type { Ctx } from '../../context.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { documents, type Operation } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { camelCase, camelKeys } from '../../lib/case.ts'
import { AppError } from '../../lib/errors.ts'
import * as organizations from '../organizations/service.ts'
import * as teams from '../teams/service.ts'
import { body, KindQuery, ListQuery, ShownToken, TeamTokensQuery, TYPE } from './schema.ts'
import type { Token } from './service.ts'
import * as service from './service.ts'

const doc = documents('Tokens', 'What users, teams, organizations and agents prove themselves with.')

const docs = {
  listOfTeams: doc('listTeamTokens', 'List the tokens of an organization’s teams', {
    200: answerPage(ShownToken),
  }),
  show: doc('showToken', 'Show a token, without its secret', { 200: answerOne(ShownToken) }),
  remove: doc('removeToken', 'End a token', { 204: NOTHING }),
}

const collectionDocs = (noun: string, owner = noun.toLowerCase()) => ({
  list: doc(`list${noun}AuthenticationTokens`, `List the tokens of a ${owner}`, {
    200: answerPage(ShownToken),
  }),
  create: doc(`create${noun}AuthenticationToken`, `Make a token of a ${owner}`, {
    201: answerOne(ShownToken),
  }),
})

const singleDocs = (noun: string, of: string) => ({
  show: doc(`show${noun}Token`, `Show the one token of ${of}, without its secret`, {
    200: answerOne(ShownToken),
  }),
  replace: doc(
    `replace${noun}Token`,
    `Make the one token of ${of}, which ends the one before`,
    {
      201: answerOne(ShownToken),
    },
    { failures: { conflict: 'Another request made it at the same moment.' } },
  ),
  remove: doc(`remove${noun}Token`, `End the one token of ${of}`, { 204: NOTHING }),
})

/** `secret` is known only while the token is being made. */
const toResource = (token: Token & { secret?: string }): Resource => ({
  id: token.id,
  type: TYPE,
  attributes: {
    'created-at': token.createdAt,
    'last-used-at': token.lastUsedAt,
    description: token.description,
    token: token.secret ?? null,
    'expired-at': token.expiredAt,
  },
  relationships: {
    'created-by': toOne('users', token.createdById),
    ...(token.teamId && { team: toOne('teams', token.teamId) }),
    ...(token.registryProviderIds && {
      'registry-providers': toMany('registry-providers', JSON.parse(token.registryProviderIds)),
    }),
  },
  links: { self: `/api/v2/authentication-tokens/${token.id}` },
})

interface Single {
  url: string
  docs: Record<'show' | 'replace' | 'remove', Operation>
  /** What of the path names the owner. */
  owner: (path: PathParams) => string
  access: (ctx: Ctx, owner: string) => Promise<unknown>
  get: (ctx: Ctx, owner: string) => Promise<Token>
  replace: (ctx: Ctx, owner: string, attributes: service.TokenAttributes) => Promise<service.NewToken>
  remove: (ctx: Ctx, owner: string) => Promise<void>
}

/** The tokens of users, teams and agents, of which there may be many. */
const COLLECTIONS = [
  {
    url: '/api/v2/users/:id/authentication-tokens',
    docs: collectionDocs('User'),
    access: service.authorizeUserTokens,
    list: service.listOfUser,
    create: service.createForUser,
  },
  {
    url: '/api/v2/teams/:id/authentication-tokens',
    docs: collectionDocs('Team'),
    access: teams.getWithTokens,
    list: service.listOfTeam,
    create: service.createForTeam,
  },
  {
    url: '/api/v2/agent-pools/:id/authentication-tokens',
    docs: collectionDocs('AgentPool', 'pool of agents'),
    access: service.getPool,
    list: service.listOfAgentPool,
    create: service.createForAgentPool,
  },
]

/** The tokens of which there is one; making it ends the one before. */
const SINGLES: Single[] = [
  {
    url: '/api/v2/teams/:id/authentication-token',
    docs: singleDocs('Team', 'a team'),
    owner: (path) => path.id,
    access: teams.getWithTokens,
    get: service.getOfTeam,
    replace: service.replaceOfTeam,
    remove: service.removeOfTeam,
  },
  {
    url: '/api/v2/organizations/:organization_name/authentication-token',
    docs: singleDocs('Organization', 'an organization'),
    owner: (path) => path.organization_name,
    access: (ctx, owner) => organizations.getByName(ctx, owner, 'organization-tokens:manage'),
    get: service.getOfOrganization,
    replace: service.replaceOfOrganization,
    remove: service.removeOfOrganization,
  },
]

export const routes: Routes = (app) => {
  for (const { url, docs, access, list, create } of COLLECTIONS) {
    app.get(
      url,
      { schema: { querystring: ListQuery }, config: { doc: docs.list } },
      async ({ ctx, path, page, href, query }) => {
        return many(await list(ctx, path.id, page, query.sort === '-created-at'), href, toResource)
      },
    )

    app.post(
      url,
      { schema: { body }, config: { doc: docs.create, access: (ctx, path) => access(ctx, path.id) } },
      async ({ ctx, path, body }, reply) => {
        return reply.code(201).send(one(toResource(await create(ctx, path.id, toAttributes(body.data)))))
      },
    )
  }

  for (const { url, docs, owner, access, get, replace, remove } of SINGLES) {
    app.get(
      url,
      { schema: { querystring: KindQuery }, config: { doc: docs.show } },
      async ({ ctx, path, query }) => {
        const token = await get(ctx, owner(path))
        refuseOtherKinds(query.token)
        return one(toResource(token))
      },
    )

    app.post(
      url,
      {
        schema: { body, querystring: KindQuery },
        config: { doc: docs.replace, access: (ctx, path) => access(ctx, owner(path)) },
      },
      async ({ ctx, path, body, query }, reply) => {
        refuseOtherKinds(query.token)
        const created = await replace(ctx, owner(path), toAttributes(body.data))
        return reply.code(201).send(one(toResource(created)))
      },
    )

    app.delete(
      url,
      {
        schema: { querystring: KindQuery },
        config: { doc: docs.remove, access: (ctx, path) => access(ctx, owner(path)) },
      },
      async ({ ctx, path, query }, reply) => {
        refuseOtherKinds(query.token)
        await remove(ctx, owner(path))
        return reply.code(204).send()
      },
    )
  }

  app.get(
    '/api/v2/organizations/:organization_name/team-tokens',
    { schema: { querystring: TeamTokensQuery }, config: { doc: docs.listOfTeams } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { q: query.q, sort: parseSort(query.sort) }
      return many(await service.listOfTeams(ctx, path.organization_name, filter, page), href, toResource)
    },
  )

  app.get('/api/v2/authentication-tokens/:id', { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(toResource(await service.get(ctx, path.id)))
  })

  app.delete(
    '/api/v2/authentication-tokens/:id',
    { config: { doc: docs.remove } },
    async ({ ctx, path }, reply) => {
      await service.remove(ctx, path.id)
      return reply.code(204).send()
    },
  )
}

function toAttributes({ attributes, relationships }: Static<typeof body>['data']): service.TokenAttributes {
  const registryProviderIds = relationships['registry-providers']?.data.map(({ id }) => id)
  return { ...camelKeys(attributes), registryProviderIds }
}

function parseSort(sort = 'created-at') {
  const by = camelCase(sort.replace(/^-/, '')) as service.TeamTokenSort
  return { by, descending: sort.startsWith('-') }
}

/** The public service has audit trail tokens at the same address; mistaking one would end the real token. */
function refuseOtherKinds(kind: string | undefined): void {
  if (kind === undefined || kind === 'organization') return
  throw new AppError('badRequest', 'token must be organization: there are no other kinds here', {
    parameter: 'token',
  })
}
