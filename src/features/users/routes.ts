import { Type } from 'typebox'
import { authorizeAnyone, authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { includable } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Nullable, Text } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import { changePassword } from './password.ts'
import type { User } from './service.ts'
import * as service from './service.ts'

const TYPE = 'users'

const Account = Type.Object({
  username: Text({ pattern: '^[A-Za-z0-9._-]{2,60}$', rule: '2 to 60 letters, digits and . _ -' }),
  email: Text({ pattern: '^[^\\s@]+@[^\\s@]+$', rule: 'an e-mail address' }),
})

const NewUser = Type.Object({
  ...Account.properties,
  'is-site-admin': Type.Optional(Type.Boolean()),
  password: Type.Optional(Type.String()),
})

/** The public API spells these with underscores. */
const PasswordChange = Type.Object({
  current_password: Type.Optional(Nullable(Type.String())),
  password: Type.String(),
  password_confirmation: Type.String(),
})

/** What everybody may know of a user. */
const toResource = (user: User): Resource => ({
  id: user.id,
  type: TYPE,
  attributes: {
    username: user.username,
    'is-service-account': user.isServiceAccount,
    'auth-method': 'tfc',
    'avatar-url': null,
    'v2-only': true,
    permissions: {
      'can-create-organizations': true,
      'can-change-email': user.isSiteAdmin,
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
    relationships: { ...resource.relationships, 'authenticated-resource': toOne(TYPE, user.id) },
  }
}

/** Who a team's or an organization's token speaks for, in the form of a user. */
async function toServiceAccount(ctx: Ctx): Promise<Resource> {
  const subject = authorizeAnyone(ctx)
  const owner =
    subject.kind === 'organization'
      ? { type: 'organizations', id: (await organizations.ownerOf(ctx, { organizationId: subject.id })).name }
      : { type: 'teams', id: subject.id }
  return {
    id: subject.id.replace(/^[a-z]+-/, 'user-'),
    type: TYPE,
    attributes: {
      username: `api-${subject.kind}-${owner.id}`,
      'is-service-account': true,
      'avatar-url': null,
      'v2-only': true,
      email: null,
      'is-site-admin': false,
      permissions: {
        'can-create-organizations': false,
        'can-change-email': false,
        'can-change-username': false,
        'can-manage-user-tokens': false,
      },
    },
    relationships: { 'authenticated-resource': toOne(owner.type, owner.id) },
  }
}

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) => (await service.listByIds(ctx, ids)).map(toResource))

  app.get('/api/v2/account/details', async ({ ctx }) => {
    const user = await service.findAccount(ctx)
    return one(user ? toAccount(user) : await toServiceAccount(ctx))
  })

  app.patch(
    '/api/v2/account/update',
    {
      schema: { body: input(TYPE, Changes(Account)) },
      config: { access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }) => {
      return one(toAccount(await service.updateAccount(ctx, camelKeys(body.data.attributes))))
    },
  )

  app.patch(
    '/api/v2/account/password',
    {
      schema: { body: input(TYPE, PasswordChange) },
      config: { access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }) => {
      const { current_password: current, password, password_confirmation: repeated } = body.data.attributes
      return one(toAccount(await changePassword(ctx, { current: current ?? '', password, repeated })))
    },
  )

  app.get('/api/v2/users/:id', async ({ ctx, path }) => one(toResource(await service.show(ctx, path.id))))

  app.get('/api/v2/admin/users', async ({ ctx, page, href }) => {
    return many(await service.list(ctx, page), href, toAccount)
  })

  app.post(
    '/api/v2/admin/users',
    { schema: { body: input(TYPE, NewUser) }, config: { access: async (ctx) => authorizeSiteAdmin(ctx) } },
    async ({ ctx, body }, reply) => {
      const created = await service.create(ctx, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toAccount(created)))
    },
  )

  app.patch(
    '/api/v2/admin/users/:id',
    {
      schema: { body: input(TYPE, Changes(NewUser)) },
      config: { access: (ctx, path) => service.getForAdmin(ctx, path.id) },
    },
    async ({ ctx, path, body }) => {
      return one(toAccount(await service.update(ctx, path.id, camelKeys(body.data.attributes))))
    },
  )

  app.delete('/api/v2/admin/users/:id', async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
