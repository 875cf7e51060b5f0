import type { TProperties } from 'typebox'
import { About, Nullable, OneOf, Text, ToOne } from '../../http/schema.ts'
import {
  Exactly,
  Links,
  Moment,
  Permissions,
  Related,
  RelatedMany,
  RelatedOrNone,
  Shown,
} from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { RUN_STATES } from './status.ts'

export const TYPE = 'runs'

const Flag = (description: string) => Type.Boolean({ description })

const Addresses = (description: string) =>
  Type.Array(Text({ maxLength: 1024 }), { maxItems: 1000, description, examples: [['terraform_data.a']] })

const Variables = Type.Array(
  Type.Object({
    key: Text({
      pattern: '^[A-Za-z_][A-Za-z0-9_-]*$',
      rule: 'the name of a variable',
      examples: ['region'],
    }),
    value: Type.String({ maxLength: 256 * 1024, description: 'An expression of HCL.', examples: ['"eu-1"'] }),
  }),
  { maxItems: 1000, description: 'Variables of this run, which override others of the same name.' },
)

const FLAGS = {
  'is-destroy': Flag('Whether it destroys everything.'),
  refresh: Flag('Whether the state is compared with the infrastructure first.'),
  'refresh-only': Flag('Whether it changes the state only.'),
  'plan-only': Flag('Whether it is never applied.'),
  'save-plan': Flag('Whether its plan is kept, to be applied later, while others use the workspace.'),
  'auto-apply': Flag('Whether its plan is applied without a confirmation.'),
  'allow-empty-apply': Flag('Whether it is applied although it changes nothing.'),
  'allow-config-generation': Flag('Whether configuration is written for what it imports.'),
  'debugging-mode': Flag('Whether its log is as detailed as can be.'),
}

const Version = Nullable(
  Text({
    pattern: '^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?$',
    rule: 'a version such as 1.9.8',
    description: 'Of the engine; for plan-only runs. The workspace’s, unless it is given.',
    examples: ['1.9.8'],
  }),
)

export const Attributes = Type.Partial(
  Type.Object({
    ...FLAGS,
    message: Nullable(Type.String({ maxLength: 5000, description: 'What it is for.' })),
    'terraform-version': Version,
    'target-addrs': Nullable(Addresses('Only these resources and what they need.')),
    'replace-addrs': Nullable(Addresses('Resources to make anew.')),
    variables: Nullable(Variables),
  }),
)

export const Relationships = Type.Object({
  workspace: ToOne('workspaces'),
  'configuration-version': Type.Optional(ToOne('configuration-versions')),
})

/** Bodies of actions are not JSON:API: clients send `{}`, a comment, or nothing. */
export const Comment = Type.Object({
  comment: Type.Optional(Nullable(Type.String({ maxLength: 10_000, description: 'Kept with the run.' }))),
})

const StatusMoment = Type.Optional(
  Type.String({
    format: 'date-time',
    description: 'With its offset.',
    examples: ['2026-11-21T09:30:00+00:00'],
  }),
)

const TIMESTAMPS: TProperties = Object.fromEntries([
  ['plan-queueable-at', StatusMoment],
  ...Object.keys(RUN_STATES).map((status) => [`${status.replaceAll('_', '-')}-at`, StatusMoment]),
])

export const ACTIONS = ['is-cancelable', 'is-confirmable', 'is-discardable', 'is-force-cancelable']
export const PERMISSIONS = [
  'can-apply',
  'can-cancel',
  'can-comment',
  'can-discard',
  'can-force-execute',
  'can-force-cancel',
  'can-override-policy-check',
]

export const ShownRun = Shown('Run', TYPE, {
  id: 'run-CZcmD7eagjhyX0vN',
  attributes: {
    ...FLAGS,
    status: About('Where it stands.', OneOf(...(Object.keys(RUN_STATES) as (keyof typeof RUN_STATES)[]))),
    'status-timestamps': Exactly(TIMESTAMPS),
    actions: Permissions(ACTIONS),
    permissions: Permissions(PERMISSIONS),
    'canceled-at': Nullable(Moment('When somebody asked it to stop.')),
    'created-at': Moment('When it was made.'),
    'force-cancel-available-at': Nullable(Moment('From when on it may be forced to stop.')),
    'has-changes': Type.Boolean({ description: 'Whether its plan changes something.' }),
    message: Type.String(),
    source: Type.String({ examples: ['tfe-api'] }),
    'trigger-reason': Type.String({ examples: ['manual'] }),
    'terraform-version': Type.String({ examples: ['1.9.8'] }),
    'position-in-queue': Type.Integer({
      minimum: 0,
      description:
        'How many unfinished runs of the organization are before it, itself included; 0 elsewhere than in its queue.',
    }),
    'target-addrs': Nullable(Addresses('Only these resources and what they need.')),
    'replace-addrs': Nullable(Addresses('Resources to make anew.')),
    variables: Type.Array(Exactly({ key: Type.String(), value: Type.String() })),
  },
  relationships: {
    workspace: Related('workspaces'),
    'configuration-version': Related('configuration-versions'),
    plan: Related('plans'),
    apply: Related('applies'),
    'created-by': RelatedOrNone('users', 'teams'),
    'confirmed-by': RelatedOrNone('users'),
    'cost-estimate': RelatedOrNone('cost-estimates'),
    'run-events': RelatedMany('run-events'),
    comments: RelatedMany('comments'),
    'policy-checks': RelatedMany('policy-checks'),
    'task-stages': RelatedMany('task-stages'),
  },
  links: Links('self'),
})

export const ShownCapacity = Shown('OrganizationCapacity', 'organization-capacity', {
  id: 'acme',
  attributes: {
    pending: Type.Integer({ minimum: 0, description: 'Runs that wait.' }),
    running: Type.Integer({ minimum: 0, description: 'Runs that are carried out.' }),
  },
  links: Links('self'),
})

export const ShownQueuePosition = Shown('QueuePosition', 'queue-positions', {
  id: 'run-CZcmD7eagjhyX0vN',
  attributes: {
    'waits-for': Nullable(
      OneOf('configuration', 'workspace', 'run', 'capacity', 'worker', 'agent', 'confirmation'),
    ),
    reason: Nullable(Type.String({ description: 'The same for people.' })),
    position: Type.Integer({
      minimum: 0,
      description: 'Its place among the runs that wait for the same; 1 is next, 0 when it does not wait.',
    }),
    since: Nullable(Moment('Since when it waits.')),
  },
  relationships: { run: Related('runs'), 'blocked-by': RelatedOrNone('runs') },
})
