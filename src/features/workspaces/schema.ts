import { About, Nullable, OneOf, Text, ToOne, ToOneOrNone } from '../../http/schema.ts'
import { Links, Moment, Permissions, Related, RelatedMany, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { ShownRelationships, TagBindings } from '../tag-bindings/resource.ts'
import { Tags } from '../tags/resource.ts'

export const TYPE = 'workspaces'

const Flag = (description: string) => Type.Boolean({ description })
const Paths = (description: string, example: string) =>
  Type.Array(Text(), { maxItems: 1000, description, examples: [[example]] })
const VERSION = '(?:(?:=|!=|>|>=|<|<=|~>)\\s*)?\\d+(?:\\.\\d+){0,2}(?:-[0-9A-Za-z.-]+)?'

const Name = Text({
  pattern: '^[A-Za-z0-9_-]{1,90}$',
  rule: '1 to 90 letters, digits, hyphens and underscores',
  description: 'Its name. No two workspaces of an organization have the same.',
  examples: ['network-production'],
})

const ExecutionMode = About(
  'Where its runs take place: on the server, with whoever starts them, or with the agents of a pool.',
  OneOf('remote', 'local', 'agent'),
)

const AgentPoolId = Nullable(
  Type.String({
    maxLength: 255,
    description: 'The pool whose agents carry out its runs, with the mode `agent`.',
    examples: ['apool-yoGUFz5zcRMMz53i'],
  }),
)

const FLAGS = {
  operations: Flag('The older form of the execution mode: whether it is not `local`.'),
  'auto-apply': Flag('Whether plans that change something are applied without a confirmation.'),
  'auto-apply-run-trigger': Flag('The same for runs that other workspaces start.'),
  'allow-destroy-plan': Flag('Whether plans that destroy everything are taken.'),
  'assessments-enabled': Flag('Kept for clients; nothing assesses workspaces.'),
  'file-triggers-enabled': Flag('Whether only changes of certain files start runs.'),
  'global-remote-state': Flag('Whether every workspace of the organization may read its state.'),
  'project-remote-state': Flag('Whether every workspace of its project may read its state.'),
  'queue-all-runs': Flag('Whether runs start before the first one by hand.'),
  'speculative-enabled': Flag('Whether pull requests start plans.'),
  'structured-run-output-enabled': Flag('Whether runs show their output in a structured form.'),
  'inherits-project-auto-destroy': Flag('Whether the project says when it is destroyed.'),
}

const TEXTS = {
  description: Nullable(
    Type.String({ maxLength: 5000, description: 'What it is for.', examples: ['Networks in production'] }),
  ),
  'terraform-version': Text({
    pattern: `^(?:latest|${VERSION}(?:\\s*,\\s*${VERSION})*)$`,
    rule: 'a version such as 1.9.8, a constraint such as ~> 1.9.0, or latest',
    description: 'Of terraform or tofu.',
    examples: ['~> 1.9.0'],
  }),
  'source-name': Nullable(
    Type.String({
      maxLength: 255,
      description: 'What made it, for people.',
      examples: ['Service catalogue'],
    }),
  ),
  'source-url': Nullable(
    Text({
      maxLength: 2048,
      pattern: '^https?://\\S+$',
      rule: 'an http or https address',
      description: 'Where to find what made it.',
      examples: ['https://catalogue.example.com/42'],
    }),
  ),
  'auto-destroy-at': Nullable(
    Text({ description: 'When it is destroyed; null for never.', examples: ['2027-01-01T00:00:00Z'] }),
  ),
  'auto-destroy-activity-duration': Nullable(
    Text({
      pattern: '^\\d{1,4}[dh]$',
      predicate: "has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      description: 'How long after its last change it is destroyed, in days or hours; null for never.',
      examples: ['14d'],
    }),
  ),
}

const DIRECTORY = {
  maxLength: 1024,
  description: 'Where in the configuration runs take place; empty for its root.',
  examples: ['environments/production'],
}

const PREFIXES = Paths('Changes below these directories start runs.', 'modules')
const PATTERNS = Paths('Changes of files that match these start runs.', '/modules/**/*')

export const Attributes = Type.Object({
  name: Name,
  'execution-mode': Type.Optional(ExecutionMode),
  'agent-pool-id': Type.Optional(AgentPoolId),
  'setting-overwrites': Type.Optional(
    Type.Object(
      { 'execution-mode': Type.Optional(Type.Boolean()), 'agent-pool': Type.Optional(Type.Boolean()) },
      { additionalProperties: false, description: 'Which settings are its own, not its project’s.' },
    ),
  ),
  ...Type.Partial(Type.Object({ ...FLAGS, ...TEXTS })).properties,
  'working-directory': Type.Optional(
    Nullable(
      Type.String({
        ...DIRECTORY,
        pattern: '^(?!(?:.*/)?\\.\\.(?:/|$))',
        'x-rule': 'a directory inside the configuration',
      }),
    ),
  ),
  'trigger-prefixes': Type.Optional(Nullable(PREFIXES)),
  'trigger-patterns': Type.Optional(Nullable(PATTERNS)),
  'vcs-repo': Type.Optional(
    Type.Null({ description: 'Only null: there are no connections to version control yet.' }),
  ),
})

export const Relationships = Type.Object({
  project: Type.Optional(ToOne('projects')),
  'agent-pool': Type.Optional(ToOneOrNone('agent-pools')),
  'tag-bindings': Type.Optional(TagBindings),
  tags: Type.Optional(Tags),
})

const Never = Type.Null({ description: 'Always null here.' })
const Count = Type.Integer({ minimum: 0 })

/** What a caller may do with a workspace, by the names that clients ask for. */
const SHOWN_PERMISSIONS = [
  'can-create-state-versions',
  'can-destroy',
  'can-force-delete',
  'can-force-unlock',
  'can-lock',
  'can-manage-assessments',
  'can-manage-ephemeral-workspaces',
  'can-manage-hyok',
  'can-manage-run-tasks',
  'can-manage-tags',
  'can-queue-apply',
  'can-queue-destroy',
  'can-queue-run',
  'can-read-assessment-results',
  'can-read-run',
  'can-read-settings',
  'can-read-state-outputs',
  'can-read-state-versions',
  'can-read-variable',
  'can-unlock',
  'can-update',
  'can-update-variable',
]

export const ShownWorkspace = Shown('Workspace', TYPE, {
  id: 'ws-6fMPHqWY3yLzK2vT',
  attributes: {
    name: Name,
    ...FLAGS,
    ...TEXTS,
    'execution-mode': ExecutionMode,
    'agent-pool-id': AgentPoolId,
    'setting-overwrites': Permissions(['execution-mode', 'agent-pool']),
    'working-directory': Type.String(DIRECTORY),
    'trigger-prefixes': PREFIXES,
    'trigger-patterns': PATTERNS,
    locked: Type.Boolean(),
    'locked-reason': Nullable(Type.String()),
    'tag-names': Type.Array(Type.String()),
    'created-at': Moment('When it was made.'),
    'updated-at': Moment('When it was last changed.'),
    'latest-change-at': Moment('When it was last changed.'),
    actions: Permissions(['is-destroyable']),
    'can-queue-destroy-plan': Type.Boolean(),
    permissions: Permissions(SHOWN_PERMISSIONS),
    environment: Type.String({ examples: ['default'] }),
    'migration-environment': Never,
    source: Type.String({ examples: ['tfe-api'] }),
    'source-module-id': Never,
    'no-code-upgrade-available': Type.Boolean(),
    'vcs-repo': Never,
    'vcs-repo-identifier': Never,
    'auto-destroy-status': Never,
    'last-assessment-result-at': Never,
    'resource-count': Count,
    'apply-duration-average': Never,
    'plan-duration-average': Never,
    'policy-check-failures': Never,
    'run-failures': Never,
    'workspace-kpis-runs-count': Never,
  },
  relationships: {
    organization: Related('organizations'),
    project: Related('projects'),
    'locked-by': RelatedOrNone('users', 'teams', 'runs'),
    'agent-pool': RelatedOrNone('agent-pools'),
    'ssh-key': RelatedOrNone('ssh-keys'),
    'current-run': RelatedOrNone('runs'),
    'latest-run': RelatedOrNone('runs'),
    'current-state-version': RelatedOrNone('state-versions'),
    'current-configuration-version': RelatedOrNone('configuration-versions'),
    'current-assessment-result': RelatedOrNone('assessment-results'),
    readme: RelatedOrNone('workspace-readme'),
    outputs: RelatedMany('workspace-outputs'),
    vars: RelatedMany('vars'),
    ...ShownRelationships,
  },
  links: Links('self', 'self-html'),
})
