import { GRANTS } from '../../auth/permissions.ts'
import { About, Nullable, OneOf, Text } from '../../http/schema.ts'
import { Links, Permissions, Related, RelatedAddress, RelatedMany, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

export const TYPE = 'teams'

export const Attributes = Type.Object({
  name: Text({
    maxLength: 90,
    pattern: '^[A-Za-z0-9_-]+$',
    rule: 'letters, digits, hyphens and underscores only',
    description: 'Its name. No two teams of an organization have the same.',
    examples: ['network'],
  }),
  'sso-team-id': Type.Optional(
    Nullable(
      Type.String({ maxLength: 255, description: 'What the identity provider calls it; null for nothing.' }),
    ),
  ),
  visibility: Type.Optional(
    About(
      'Who sees it: its members and those who manage teams, or the whole organization.',
      OneOf('secret', 'organization'),
    ),
  ),
  'allow-member-token-management': Type.Optional(
    Type.Boolean({ description: 'Whether members may make and remove tokens of the team.' }),
  ),
  'organization-access': Type.Optional(
    Type.Partial(
      Type.Object(Object.fromEntries(GRANTS.map((grant) => [grant, Type.Boolean()])), {
        additionalProperties: false,
      }),
    ),
  ),
})

export const ShownTeam = Shown('Team', TYPE, {
  id: 'team-6p5jTwJQXwqZBncC',
  attributes: {
    ...Type.Required(Attributes).properties,
    'organization-access': Permissions(GRANTS),
    'is-unified': Type.Boolean(),
    'users-count': Type.Integer({ minimum: 0, description: 'Members, without those who are only invited.' }),
    permissions: Permissions([
      'can-destroy',
      'can-update-membership',
      'can-update-organization-access',
      'can-update-api-token',
      'can-view-api-token',
      'can-update-visibility',
      'can-update-name',
      'can-update-sso-team-id',
      'can-update-member-token-management',
    ]),
  },
  relationships: {
    organization: Related('organizations'),
    users: RelatedMany('users'),
    'organization-memberships': RelatedMany('organization-memberships'),
    'authentication-token': RelatedAddress,
    'authentication-tokens': RelatedAddress,
  },
  links: Links('self'),
})
