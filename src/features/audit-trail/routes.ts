import { MEDIA_TYPE } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable } from '../../http/schema.ts'
import { answerPlain, Exactly, Moment } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import { paginationMeta } from '../../lib/pagination.ts'
import { Type } from '../../lib/type.ts'
import type { AuditEvent } from './service.ts'
import * as service from './service.ts'

const toEvent = (event: AuditEvent) => ({
  id: event.id,
  version: '0',
  type: 'Resource',
  timestamp: event.createdAt,
  auth: {
    accessor_id: event.accessorId,
    type: event.accessorType,
    organization_id: event.organizationId,
  },
  request: { id: event.requestId },
  resource: { id: event.resourceId, type: event.resourceType, action: event.action, meta: event.meta },
})

const Query = Type.Object({
  since: Type.Optional(
    Type.String({
      description: 'Only what happened at this time or later.',
      examples: ['2026-11-21T00:00:00Z'],
    }),
  ),
})

const Event = Exactly(
  {
    id: Type.String({ examples: ['ae-6ZGHsRqZTQfLjjTe'] }),
    version: Type.String({ description: 'Of the form of events.', examples: ['0'] }),
    type: Type.String({ examples: ['Resource'] }),
    timestamp: Moment('When it happened.'),
    auth: Exactly({
      accessor_id: Nullable(
        Type.String({ description: 'Who did it: the owner of the token; null for who had a link.' }),
      ),
      type: Type.String({ examples: ['user', 'team', 'organization', 'link'] }),
      organization_id: Type.Union([Type.String(), Type.Null()]),
    }),
    request: Exactly({ id: Type.String({ description: 'As in the log of the server.' }) }),
    resource: Exactly({
      id: Type.String(),
      type: Type.String({ examples: ['workspace'] }),
      action: Type.String({ examples: ['update'] }),
      meta: Type.Unknown({ description: 'What changed; null where there is nothing to add.' }),
    }),
  },
  { title: 'AuditEvent' },
)

const Pages = Exactly({
  current_page: Type.Integer({ minimum: 1 }),
  prev_page: Type.Union([Type.Integer(), Type.Null()]),
  next_page: Type.Union([Type.Integer(), Type.Null()]),
  total_pages: Type.Integer(),
  total_count: Type.Integer(),
})

const doc = documents('Audit trail', 'What was changed in an organization, by whom, and when.')(
  'listAuditEvents',
  'List the events of the caller’s organization, newest first',
  {
    200: {
      ...answerPlain(
        'One page of the events.',
        Exactly({ data: Type.Array(Event), pagination: Pages }),
        MEDIA_TYPE,
      ),
      paginated: true,
    },
  },
  { failures: { notFound: 'The token is not that of an organization.' } },
)

export const routes: Routes = (app) => {
  app.get(
    '/api/v2/organization/audit-trail',
    { schema: { querystring: Query }, config: { doc } },
    async ({ ctx, query, page }) => {
      const events = await service.list(ctx, parseSince(query.since), page)
      const { 'page-size': _, ...pagination } = paginationMeta(events)
      return {
        data: events.items.map(toEvent),
        pagination: Object.fromEntries(
          Object.entries(pagination).map(([key, value]) => [key.replaceAll('-', '_'), value]),
        ),
      }
    },
  )
}

function parseSince(since: string | undefined): string | undefined {
  if (since === undefined) return undefined
  const moment = new Date(since)
  if (Number.isNaN(moment.getTime())) {
    throw new AppError('badRequest', 'since must be an ISO 8601 timestamp', { parameter: 'since' })
  }
  return moment.toISOString()
}
