import { Type } from 'typebox'
import { authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import { includable } from '../../http/includes.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { changePassword } from './password.ts'
import {
  Account,
  NewUser,
  PasswordChange,
  ShownAccount,
  ShownServiceAccount,
  ShownUser,
  TYPE,
  toAccount,
  toResource,
  toServiceAccount,
} from './resource.ts'
import * as service from './service.ts'

const doc = documents('Users', 'The people who use this server, and who they are to it.')

const docs = {
  account: doc('showAccount', 'Show whom the token speaks for', {
    200: answerOne(Type.Union([ShownAccount, ShownServiceAccount])),
  }),
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
