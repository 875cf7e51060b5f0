import { authorizeAnyone, authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { includable } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { changePassword } from './password.ts'
import { serviceAccountOf } from './resource.ts'
import {
  Account,
  NewUser,
  PasswordChange,
  ShownAccount,
  ShownServiceAccount,
  ShownUser,
  TYPE,
} from './schema.ts'
import type { User } from './service.ts'
import * as service from './service.ts'

const doc = documents('Users', 'The people who use this server, and who they are to it.')

const docs = {
  account: doc(
    'showAccount',
    'Show whom the token speaks for',
    { 200: answerOne(Type.Union([ShownAccount, ShownServiceAccount])) },
    { failures: { notFound: 'The token is for something else only, such as publishing a provider.' } },
  ),
  updateAccount: doc('updateAccount', 'Change the caller’s name or e-mail address', {
    200: answerOne(ShownAccount),
  }),
  updatePassword: doc(
    'updatePassword',
    'Change the caller’s password',
    { 200: answerOne(ShownAccount) },
    {
      failures: {
        conflict: 'Another request changed it at the same moment.',
        tooManyRequests: 'Too many wrong passwords, or requests; `retry-after` says for how many seconds.',
      },
    },
  ),
  show: doc('showUser', 'Show a user', { 200: answerOne(ShownUser) }),
  list: doc(
    'listUsers',
    'List the users of this server',
    { 200: answerPage(ShownAccount) },
    { failures: { notFound: 'The caller is no site administrator.' } },
  ),
  create: doc('createUser', 'Make a user', { 201: answerOne(ShownAccount) }),
  update: doc(
    'updateUser',
    'Change a user',
    { 200: answerOne(ShownAccount) },
    { failures: { conflict: 'The caller would no longer be a site administrator.' } },
  ),
  remove: doc(
    'removeUser',
    'Remove a user',
    { 204: NOTHING },
    { failures: { conflict: 'It is the caller.' } },
  ),
}

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
    id: serviceAccountOf(subject.id),
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

  app.get('/api/v2/account/details', { config: { doc: docs.account } }, async ({ ctx }) => {
    const user = await service.findAccount(ctx)
    return one(user ? toAccount(user) : await toServiceAccount(ctx))
  })

  app.patch(
    '/api/v2/account/update',
    {
      schema: { body: input(TYPE, Changes(Account)) },
      config: { doc: docs.updateAccount, access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }) => {
      return one(toAccount(await service.updateAccount(ctx, camelKeys(body.data.attributes))))
    },
  )

  app.patch(
    '/api/v2/account/password',
    {
      schema: { body: input(TYPE, PasswordChange) },
      config: { doc: docs.updatePassword, access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }) => {
      const { current_password: current, password, password_confirmation: repeated } = body.data.attributes
      return one(toAccount(await changePassword(ctx, { current: current ?? '', password, repeated })))
    },
  )

  app.get('/api/v2/users/:id', { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.show(ctx, path.id))),
  )

  app.get('/api/v2/admin/users', { config: { doc: docs.list } }, async ({ ctx, page, href }) => {
    return many(await service.list(ctx, page), href, toAccount)
  })

  app.post(
    '/api/v2/admin/users',
    {
      schema: { body: input(TYPE, NewUser) },
      config: { doc: docs.create, access: async (ctx) => authorizeSiteAdmin(ctx) },
    },
    async ({ ctx, body }, reply) => {
      const created = await service.create(ctx, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toAccount(created)))
    },
  )

  app.patch(
    '/api/v2/admin/users/:id',
    {
      schema: { body: input(TYPE, Changes(NewUser)) },
      config: { doc: docs.update, access: (ctx, path) => service.getForAdmin(ctx, path.id) },
    },
    async ({ ctx, path, body }) => {
      return one(toAccount(await service.update(ctx, path.id, camelKeys(body.data.attributes))))
    },
  )

  app.delete('/api/v2/admin/users/:id', { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
