import { Type } from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { AppError } from '../../lib/errors.ts'
import { paginationMeta } from '../../lib/pagination.ts'
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

const Query = Type.Object({ since: Type.Optional(Type.String()) })

export const routes: Routes = (app) => {
  app.get(
    '/api/v2/organization/audit-trail',
    { schema: { querystring: Query } },
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
