import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { Nullable, OneOf } from '../../http/schema.ts'
import { Exactly, RelatedOrNone, Shown } from '../../http/shown.ts'
import { UPLOAD_SECONDS } from '../../lib/links.ts'
import { Type } from '../../lib/type.ts'
import { toActor } from '../users/resource.ts'
import type { ConfigurationVersion } from './service.ts'

export const TYPE = 'configuration-versions'

/** What signed links to archives are for. */
export const KIND = 'configuration-versions'

const Moment = Type.Optional(Type.String({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] }))

export const ShownConfigurationVersion = Shown('ConfigurationVersion', TYPE, {
  id: 'cv-ntv3HbhJqvFzamy7',
  attributes: {
    'auto-queue-runs': Type.Boolean({ description: 'Whether a run begins once the archive is there.' }),
    error: Nullable(Type.String({ description: 'What went wrong, for programs.' })),
    'error-message': Nullable(Type.String({ description: 'What went wrong, for people.' })),
    source: Type.String({ description: 'What made it.', examples: ['tfe-api', 'terraform+cloud'] }),
    speculative: Type.Boolean({ description: 'Whether it is for plans only.' }),
    provisional: Type.Boolean({
      description: 'Whether it becomes the current one only when a run with it is applied.',
    }),
    status: OneOf(
      'pending',
      'uploaded',
      'errored',
      'archived',
      'backing_data_soft_deleted',
      'backing_data_permanently_deleted',
    ),
    'status-timestamps': Exactly({
      'uploaded-at': Moment,
      'errored-at': Moment,
      'archived-at': Moment,
      'backing-data-soft-deleted-at': Moment,
      'backing-data-permanently-deleted-at': Moment,
    }),
    'upload-url': Type.Optional(
      Type.String({
        format: 'uri',
        description:
          'Where the archive, a gzipped tar, is sent by `PUT` without a token. Only told when it is made.',
      }),
    ),
  },
  relationships: {
    'created-by': RelatedOrNone('users'),
    'ingress-attributes': RelatedOrNone('ingress-attributes'),
  },
  links: Exactly({ self: Type.String(), download: Type.Optional(Type.String()) }),
})

export function toResource(version: ConfigurationVersion): Resource {
  const { createdByTeamId, createdByUserId, status } = version
  const self = `/api/v2/configuration-versions/${version.id}`
  return {
    id: version.id,
    type: TYPE,
    attributes: {
      'auto-queue-runs': version.autoQueueRuns,
      error: version.error,
      'error-message': version.errorMessage,
      source: version.source,
      speculative: version.speculative,
      provisional: version.provisional,
      status,
      'status-timestamps': JSON.parse(version.statusTimestamps),
    },
    relationships: {
      'created-by': toActor(createdByUserId, createdByTeamId),
      'ingress-attributes': toOne('ingress-attributes', null),
    },
    links: { self, ...(status === 'uploaded' && { download: `${self}/download` }) },
  }
}

/** The same with the link to send the archive to. */
export function toNewResource(ctx: Ctx, version: ConfigurationVersion): Resource {
  const resource = toResource(version)
  const target = { method: 'PUT', kind: KIND, id: version.id } as const
  const uploadUrl = ctx.links.sign(target, ctx.now(), UPLOAD_SECONDS)
  return { ...resource, attributes: { ...resource.attributes, 'upload-url': uploadUrl } }
}
