import type { TProperties } from 'typebox'
import type { Ctx } from '../../context.ts'
import type { Resource } from '../../http/jsonapi.ts'
import { toMany } from '../../http/jsonapi.ts'
import { Nullable, OneOf } from '../../http/schema.ts'
import { Exactly, Links, Permissions, RelatedMany, Shown } from '../../http/shown.ts'
import type { PhaseColumns } from '../../lib/phases.ts'
import { Type } from '../../lib/type.ts'
import * as logs from '../logs/service.ts'
import type { Plan } from './service.ts'

export const TYPE = 'plans'

const Count = (what: string) =>
  Type.Integer({ minimum: 0, description: `Resources ${what}; 0 until it is known.` })

const Moment = Type.Optional(
  Type.String({
    format: 'date-time',
    description: 'With its offset.',
    examples: ['2026-11-21T09:30:00+00:00'],
  }),
)

/** The attributes that a plan and an apply have in common. */
export const PHASE_ATTRIBUTES: TProperties = {
  status: OneOf('pending', 'queued', 'running', 'finished', 'errored', 'canceled', 'unreachable'),
  'status-timestamps': Exactly({
    'queued-at': Moment,
    'started-at': Moment,
    'finished-at': Moment,
    'errored-at': Moment,
    'canceled-at': Moment,
    'unreachable-at': Moment,
  }),
  'execution-details': Exactly({
    mode: OneOf('remote', 'agent'),
    'agent-id': Type.Optional(Type.String({ examples: ['agent-YTKXFDTmXDW1dGqy'] })),
    'agent-name': Type.Optional(Type.String()),
    'agent-pool-id': Type.Optional(Type.String({ examples: ['apool-QxGd2tRjympfMvQc'] })),
    'agent-pool-name': Type.Optional(Type.String()),
    sandbox: Type.Optional(OneOf('bwrap', 'none')),
  }),
  'log-read-url': Type.String({
    format: 'uri',
    description: 'Where the log is read, also while it is written. Takes no token and holds for a day.',
  }),
  'resource-additions': Count('to add'),
  'resource-changes': Count('to change'),
  'resource-destructions': Count('to destroy'),
  'resource-imports': Count('to import'),
  error: Nullable(Type.String({ description: 'Why it errored.' })),
}

/** The same, as clients see it. */
export function phaseAttributes(ctx: Ctx, phase: PhaseColumns & { id: string }) {
  const timestamps: Record<string, string> = JSON.parse(phase.statusTimestamps)
  return {
    status: phase.status,
    'status-timestamps': withOffsets(timestamps),
    'execution-details': JSON.parse(phase.executionDetails),
    'log-read-url': logs.readUrl(ctx, phase.id),
    'resource-additions': phase.resourceAdditions ?? 0,
    'resource-changes': phase.resourceChanges ?? 0,
    'resource-destructions': phase.resourceDestructions ?? 0,
    'resource-imports': phase.resourceImports ?? 0,
    error: phase.error,
  }
}

/** Clients read the moments under `status-timestamps` with their offset, as documented. */
export function withOffsets(timestamps: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(timestamps).map(([name, moment]) => [name, moment.replace(/(?:\.\d+)?Z$/, '+00:00')]),
  )
}

export const ShownPlan = Shown('Plan', TYPE, {
  id: 'plan-8F5JFydVYAmtTjET',
  attributes: {
    ...PHASE_ATTRIBUTES,
    'has-changes': Type.Boolean({ description: 'Whether there is something to apply.' }),
    'generated-configuration': Type.Boolean({
      description: 'Whether configuration was written for imports.',
    }),
    actions: Permissions(['is-exportable']),
    permissions: Permissions(['can-export']),
  },
  relationships: { 'state-versions': RelatedMany('state-versions'), exports: RelatedMany('plan-exports') },
  links: Links('self', 'json-output', 'json-output-redacted', 'json-schema'),
})

export function toResource(ctx: Ctx, plan: Plan): Resource {
  const self = `/api/v2/plans/${plan.id}`
  return {
    id: plan.id,
    type: TYPE,
    attributes: {
      ...phaseAttributes(ctx, plan),
      'has-changes': plan.hasChanges,
      'generated-configuration': plan.generatedConfiguration,
      actions: { 'is-exportable': false },
      permissions: { 'can-export': false },
    },
    relationships: { 'state-versions': toMany('state-versions', []), exports: toMany('plan-exports', []) },
    links: {
      self,
      'json-output': `${self}/json-output`,
      'json-output-redacted': `${self}/json-output-redacted`,
      'json-schema': `${self}/json-schema`,
    },
  }
}
