import { About, Nullable, OneOf, Search, ToMany } from '../../http/schema.ts'
import { Links, Moment, Related, RelatedMany, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

export const TYPE = 'authentication-tokens'

const MOMENT = '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?([Zz]|[+-]\\d\\d:\\d\\d)$'

/** All of it may be missing: clients send no body, none of its parts, or (the Go client) an empty type. */
export const body = Type.Object({
  data: Type.Object(
    {
      type: Type.Unsafe({ ...OneOf(TYPE, 'authentication-token', 'agent-tokens', ''), default: TYPE }),
      attributes: Type.Object(
        {
          description: Type.Optional(
            Nullable(Type.String({ maxLength: 255, description: 'What it is for.', examples: ['CI'] })),
          ),
          'expired-at': Type.Optional(
            Nullable(
              Type.String({
                pattern: MOMENT,
                'x-rule': 'an ISO 8601 date and time with its offset',
                description: 'When it ends by itself; null for never.',
                examples: ['2027-11-21T09:30:00Z'],
              }),
            ),
          ),
        },
        { additionalProperties: false, default: {} },
      ),
      relationships: Type.Object(
        {
          // Ours.
          'registry-providers': Type.Optional(
            About(
              'Limits the token of a user or team to reading the registry and publishing these providers.',
              ToMany('registry-providers'),
            ),
          ),
        },
        { additionalProperties: false, default: {} },
      ),
    },
    { default: {} },
  ),
})

const SORTS = ['team-name', 'created-by', 'expired-at', 'last-used-at', 'created-at'] as const

export const ListQuery = Type.Object({
  sort: Type.Optional(About('By what, with - for the reverse.', OneOf('created-at', '-created-at'))),
})

export const TeamTokensQuery = Type.Object({
  q: Search('Only tokens of teams whose name contains this text.'),
  sort: Type.Optional(
    About('By what, with - for the reverse.', OneOf(...SORTS.flatMap((name) => [name, `-${name}`]))),
  ),
})

export const KindQuery = Type.Object({
  token: Type.Optional(Type.String({ description: 'Only `organization`: there are no other kinds here.' })),
})

export const ShownToken = Shown('AuthenticationToken', TYPE, {
  id: 'at-QmATJea6aWj1xR2t',
  attributes: {
    'created-at': Moment('When it was made.'),
    'last-used-at': Nullable(Moment('When it was last used, within a minute or so; null for never.')),
    description: Nullable(Type.String()),
    token: Nullable(
      Type.String({ description: 'The secret, in the answer that makes the token; null ever after.' }),
    ),
    'expired-at': Nullable(Moment('When it ends by itself; null for never.')),
  },
  relationships: {
    'created-by': RelatedOrNone('users'),
    team: Type.Optional(Related('teams')),
    'registry-providers': Type.Optional(RelatedMany('registry-providers')),
  },
  links: Links('self'),
})
