import { Type } from 'typebox'
import { authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Text } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import type { User } from './service.ts'
import * as service from './service.ts'

const Account = Type.Object({
  username: Text({ pattern: '^[A-Za-z0-9._-]{2,60}$', rule: '2 to 60 letters, digits and . _ -' }),
  email: Text({ pattern: '^[^\\s@]+@[^\\s@]+$', rule: 'an e-mail address' }),
})

const NewUser = Type.Object({ ...Account.properties, 'is-site-admin': Type.Optional(Type.Boolean()) })

/** What everybody may know of a user. */
const toResource = (user: User): Resource => ({
  id: user.id,
  type: 'users',
  attributes: {
    username: user.username,
    'is-service-account': user.isServiceAccount,
    'auth-method': 'tfc',
    'avatar-url': null,
    'v2-only': true,
    permissions: {
      'can-create-organizations': true,
      'can-change-email': true,
      'can-change-username': true,
      'can-manage-user-tokens': true,
    },
  },
  relationships: {
    'authentication-tokens': { links: { related: `/api/v2/users/${user.id}/authentication-tokens` } },
  },
  links: { self: `/api/v2/users/${user.id}` },
})

/** What users know of themselves, and site administrators of everybody. */
function toAccount(user: User): Resource {
  const resource = toResource(user)
  return {
    ...resource,
    attributes: {
      ...resource.attributes,
      email: user.email,
      'is-site-admin': user.isSiteAdmin,
      'is-sudo': false,
      'has-git-hub-app-token': false,
      'is-confirmed': true,
      'is-sso-login': false,
      'two-factor': { enabled: false, verified: false },
      'unconfirmed-email': null,
      'has-linked-hcp': false,
    },
    relationships: { ...resource.relationships, 'authenticated-resource': toOne('users', user.id) },
  }
}

export const routes: Routes = (app) => {
  app.get('/api/v2/account/details', async ({ ctx }) => one(toAccount(await service.getAccount(ctx))))

  app.patch(
    '/api/v2/account/update',
    {
      schema: { body: input('users', Changes(Account)) },
      config: { access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }) => {
      return one(toAccount(await service.updateAccount(ctx, camelKeys(body.data.attributes))))
    },
  )

  app.get('/api/v2/users/:id', async ({ ctx, path }) => one(toResource(await service.show(ctx, path.id))))

  app.get('/api/v2/admin/users', async ({ ctx, page, href }) => {
    return many(await service.list(ctx, page), href, toAccount)
  })

  app.post(
    '/api/v2/admin/users',
    { schema: { body: input('users', NewUser) }, config: { access: async (ctx) => authorizeSiteAdmin(ctx) } },
    async ({ ctx, body }, reply) => {
      const created = await service.create(ctx, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toAccount(created)))
    },
  )

  app.delete('/api/v2/admin/users/:id', async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
