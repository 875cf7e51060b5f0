import { Nullable, OneOf, Text, ToOne, ToOneOrNone } from '../../http/schema.ts'
import { Exactly, Links, Moment, Related, RelatedMany, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

export const TYPE = 'state-versions'

const Base64 = (description: string) => Type.Optional(Nullable(Type.String({ description })))

export const Attributes = Type.Object({
  serial: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Counts the states of a lineage.',
  }),
  md5: Text({
    pattern: '^[0-9a-fA-F]{32}$',
    rule: '32 hexadecimal digits',
    description: 'Of the raw state.',
  }),
  lineage: Type.Optional(
    Nullable(Type.String({ maxLength: 255, description: 'What all states of one history have in common.' })),
  ),
  force: Type.Optional(
    Nullable(Type.Boolean({ description: 'Whether serial and lineage of the current state do not matter.' })),
  ),
  state: Base64('The raw state, as base64. Without it the version waits for its upload.'),
  'json-state': Base64('The same as `terraform show -json` prints it, as base64.'),
  'json-state-outputs': Base64('The outputs with their types, as base64 of JSON.'),
})

export const Relationships = Type.Object({ run: Type.Optional(ToOneOrNone('runs')) })

export const Rollback = Type.Object({ 'rollback-state-version': ToOne(TYPE) })

const Address = (description: string) =>
  Nullable(Type.String({ format: 'uri', description: `${description} Takes no token.` }))

const Counts = (description: string) =>
  Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description,
    additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
  })

const Count = Type.Integer({ minimum: 0 })
const Never = Type.Null({ description: 'Always null here.' })

export const ShownStateVersion = Shown('StateVersion', TYPE, {
  id: 'sv-g4rqST72reoHMM5a',
  attributes: {
    'created-at': Moment('When it was announced.'),
    serial: Count,
    size: Type.Integer({ minimum: 0, description: 'Bytes of the raw state; 0 until it is there.' }),
    status: OneOf('pending', 'finalized', 'discarded'),
    intermediate: Type.Boolean({
      description: 'Whether a later one followed it before the workspace was unlocked.',
    }),
    'state-version': Nullable(Type.Integer({ description: 'The version of the format.' })),
    'terraform-version': Nullable(Type.String({ examples: ['1.9.8'] })),
    'resources-processed': Type.Boolean({ description: 'Whether the outputs and resources are told.' }),
    modules: Counts('How many objects there are, by module and type.'),
    providers: Counts('How many objects there are, by provider and type.'),
    resources: Type.Unsafe<object[] | null>({
      type: ['array', 'null'],
      description: 'How many objects each resource has.',
      items: Exactly({
        name: Type.String(),
        type: Type.String({ examples: ['data.terraform_remote_state'] }),
        count: Count,
        module: Type.String({ examples: ['root'] }),
        provider: Type.String(),
      }),
    }),
    'hosted-state-download-url': Address('The raw state.'),
    'hosted-json-state-download-url': Address('The state as `terraform show -json` prints it.'),
    'hosted-state-upload-url': Address('Where to `PUT` the raw state; told to who made the version.'),
    'hosted-json-state-upload-url': Address('Where to `PUT` the same as JSON; told to who made the version.'),
    'vcs-commit-sha': Never,
    'vcs-commit-url': Never,
    'billable-rum-count': Nullable(Count),
  },
  relationships: {
    workspace: Related('workspaces'),
    run: RelatedOrNone('runs'),
    'created-by': RelatedOrNone('users', 'teams'),
    outputs: RelatedMany('state-version-outputs'),
    'rollback-state-version': RelatedOrNone(TYPE),
  },
  links: Links('self'),
})
