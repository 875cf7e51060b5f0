import { Nullable, Text } from '../../http/schema.ts'
import { Links, Permissions, Related, RelatedAddress, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

export const TYPE = 'users'

export const Account = Type.Object({
  username: Text({
    pattern: '^[A-Za-z0-9._-]{2,60}$',
    rule: '2 to 60 letters, digits and . _ -',
    description: 'Nobody else has it.',
    examples: ['ada'],
  }),
  email: Text({
    pattern: '^[^\\s@]+@[^\\s@]+$',
    rule: 'an e-mail address',
    description: 'Nobody else has it.',
    examples: ['ada@example.com'],
  }),
})

export const NewUser = Type.Object({
  ...Account.properties,
  'is-site-admin': Type.Optional(Type.Boolean({ description: 'Whether they administer this server.' })),
  password: Type.Optional(Type.String({ description: 'To sign in with in a browser.' })),
})

/** The public API spells these with underscores. */
export const PasswordChange = Type.Object({
  current_password: Type.Optional(Nullable(Type.String({ description: 'Null for who has none yet.' }))),
  password: Type.String({ description: 'The new one.' }),
  password_confirmation: Type.String({ description: 'The new one again.' }),
})

const Facts = {
  username: Type.String({ examples: ['ada'] }),
  'is-service-account': Type.Boolean({ description: 'Whether it is a program, not a person.' }),
  'auth-method': Type.String({ examples: ['tfc'] }),
  'avatar-url': Type.Null({ description: 'Always null here.' }),
  'v2-only': Type.Boolean(),
  permissions: Permissions([
    'can-create-organizations',
    'can-change-email',
    'can-change-username',
    'can-manage-user-tokens',
  ]),
}

export const ShownUser = Shown('User', TYPE, {
  id: 'user-V3R563qtJNcExAkN',
  attributes: Facts,
  relationships: { 'authentication-tokens': RelatedAddress },
  links: Links('self'),
})

const PrivateFacts = {
  email: Type.String({ examples: ['ada@example.com'] }),
  'is-site-admin': Type.Boolean({ description: 'Whether they administer this server.' }),
  'is-sudo': Type.Boolean(),
  'has-git-hub-app-token': Type.Boolean(),
  'is-confirmed': Type.Boolean(),
  'is-sso-login': Type.Boolean(),
  'two-factor': Permissions(['enabled', 'verified']),
  'unconfirmed-email': Type.Null({ description: 'Always null here.' }),
  'has-linked-hcp': Type.Boolean(),
}

export const ShownAccount = Shown('Account', TYPE, {
  id: 'user-V3R563qtJNcExAkN',
  attributes: { ...Facts, ...PrivateFacts },
  relationships: { 'authentication-tokens': RelatedAddress, 'authenticated-resource': Related(TYPE) },
  links: Links('self'),
})

const { 'auth-method': _, ...ServiceFacts } = Facts

/** What the token of a team or an organization speaks for. */
export const ShownServiceAccount = Shown('ServiceAccount', TYPE, {
  id: 'user-6p5jTwJQXwqZBncC',
  attributes: { ...ServiceFacts, email: Type.Null(), 'is-site-admin': Type.Boolean() },
  relationships: { 'authenticated-resource': Related('teams', 'organizations') },
})
