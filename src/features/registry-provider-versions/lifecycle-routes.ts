import type { Static } from 'typebox'
import { one } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { input, Nullable, OneOf, Text } from '../../http/schema.ts'
import { answerOne } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { addressOf } from '../registry-providers/service.ts'
import { doc, TYPE, toResource, Version } from './resource.ts'
import type { VersionChanges } from './service.ts'
import * as service from './service.ts'

/** Clients print it on people's terminals, so it is one line without anything that a terminal would obey. */
const Words = Nullable(
  Text({
    maxLength: 1000,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]+$',
    rule: 'one line of text',
    description: 'What consumers are told.',
    examples: ['It leaks connections; use 1.2.4.'],
  }),
)

const Address = Nullable(
  Text({
    maxLength: 2000,
    pattern: '^https?://[!-~]+$',
    rule: 'an address that begins with https:// or http://',
    description: 'Where there is more about it.',
    examples: ['https://example.com/advisories/7'],
  }),
)

const Attributes = Type.Object({
  deprecation: Type.Optional(
    Type.Object(
      {
        'deprecated-status': OneOf('Deprecated', 'Undeprecated'),
        reason: Type.Optional(Words),
        link: Type.Optional(Address),
      },
      { additionalProperties: false, description: 'Replaces the one that there is.' },
    ),
  ),
  revocation: Type.Optional(
    Type.Object(
      {
        status: OneOf('Revoked', 'Unrevoked'),
        message: Type.Optional(Words),
        link: Type.Optional(Address),
      },
      {
        additionalProperties: false,
        description: 'Replaces the one that there is. Taken back, the version is deprecated.',
      },
    ),
  ),
  status: Type.Optional(
    Type.String({ description: '`revoked` is short for a revocation without a message.' }),
  ),
})

function toChanges({ status, deprecation, revocation }: Static<typeof Attributes>): VersionChanges {
  return {
    status,
    deprecation: deprecation && {
      status: deprecation['deprecated-status'],
      reason: deprecation.reason ?? null,
      link: deprecation.link ?? null,
    },
    revocation: revocation && {
      status: revocation.status,
      message: revocation.message ?? null,
      link: revocation.link ?? null,
    },
  }
}

const docs = {
  update: doc(
    'updateProviderVersion',
    'Deprecate or revoke a version, or take that back',
    { 200: answerOne(Version) },
    { failures: { conflict: 'The version is in a state in which this cannot be done.' } },
  ),
}

export const lifecycleRoutes: Routes = (app) => {
  app.patch(
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions/:version',
    {
      schema: { body: input([TYPE, ''], Attributes) },
      config: {
        doc: docs.update,
        access: (ctx, path) => service.getForChange(ctx, addressOf(path), path.version),
      },
    },
    async ({ ctx, path, body }) => {
      const changes = toChanges(body.data.attributes)
      return one(await toResource(ctx, await service.update(ctx, addressOf(path), path.version, changes)))
    },
  )
}
