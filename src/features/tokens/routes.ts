import { Type } from 'typebox'
import { one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { input, Nullable } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import type { Token } from './service.ts'
import * as service from './service.ts'

const TYPE = 'authentication-tokens'

const Attributes = Type.Object({
  description: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  'expired-at': Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
})

/** Clients disagree on the plural. */
const body = input([TYPE, 'authentication-token'], Attributes)

/** `secret` is known only while the token is being made. */
const toResource = (token: Token & { secret?: string }): Resource => ({
  id: token.id,
  type: TYPE,
  attributes: {
    'created-at': token.createdAt,
    'last-used-at': token.lastUsedAt,
    description: token.description ?? '',
    token: token.secret ?? null,
    'expired-at': token.expiredAt,
  },
  relationships: {
    'created-by': toOne('users', token.createdById),
  },
})

export const routes: Routes = (app) => {
  app.post(
    '/api/v2/users/:id/authentication-tokens',
    {
      schema: { body },
      config: { access: (ctx, path) => service.authorizeUserTokens(ctx, path.id) },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.createForUser(ctx, path.id, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toResource(created)))
    },
  )
}
