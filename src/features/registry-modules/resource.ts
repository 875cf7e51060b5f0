import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { About, OneOf, Text } from '../../http/schema.ts'
import { Exactly, Links, Moment, Permissions, Related, RelatedAddress, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { detailsOf, type ModuleDetails, pathOf, type RegistryModule } from './service.ts'

export const TYPE = 'registry-modules'

export const Name = Text({
  pattern: '^[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$',
  rule: 'up to 64 letters, digits, inner hyphens and inner underscores',
  examples: ['vpc'],
})

export const Provider = Text({
  pattern: '^[a-z0-9]{1,64}$',
  rule: 'up to 64 lower-case letters and digits; terraform cannot address other systems',
  description: 'The system that it is for.',
  examples: ['aws'],
})

export const RegistryName = About(
  '`private` for a module whose versions are here, `public` to refer to one of the public registry.',
  OneOf('private', 'public'),
)

const Status = Exactly({
  version: Type.String({ examples: ['1.2.3'] }),
  status: OneOf('pending', 'reg_ingress_failed', 'ok'),
  error: Type.Optional(Type.String({ description: 'Why its archive was refused.' })),
})

export const Module = Shown('RegistryModule', TYPE, {
  id: 'mod-BLJWvWyJ2QMs525k',
  attributes: {
    name: Name,
    namespace: Type.String({ description: 'For a private module, its organization.', examples: ['acme'] }),
    provider: Provider,
    'registry-name': RegistryName,
    status: About('`setup_complete` once a version can be installed.', OneOf('pending', 'setup_complete')),
    'version-statuses': Type.Array(Status, { description: 'The newest version first.' }),
    'no-code': Type.Boolean({ description: 'Only kept.' }),
    'created-at': Moment('When it was registered.'),
    'updated-at': Moment('When it was last changed.'),
    permissions: Permissions(['can-delete', 'can-resync', 'can-retry']),
  },
  relationships: { organization: Related('organizations'), versions: Type.Optional(RelatedAddress) },
  links: Links('self'),
})

/** A module as it is shown; its versions are looked up unless they are there already. */
export async function toResource(ctx: Ctx, module: RegistryModule | ModuleDetails): Promise<Resource> {
  const { versions } = 'versions' in module ? module : await detailsOf(ctx, module)
  const { organizationId, organizationName, registryName } = module
  const isPrivate = registryName === 'private'
  const isReady = !isPrivate || versions.some(({ status }) => status === 'ok')
  const self = pathOf(module)
  return {
    id: module.id,
    type: TYPE,
    attributes: {
      name: module.name,
      namespace: module.namespace,
      provider: module.provider,
      'registry-name': registryName,
      status: isReady ? 'setup_complete' : 'pending',
      'version-statuses': versions.map(({ version, status, error }) => ({
        version,
        status,
        ...(error !== null && { error }),
      })),
      'no-code': module.noCode,
      'created-at': module.createdAt,
      'updated-at': module.updatedAt,
      permissions: {
        'can-delete': await can(ctx, 'registry-modules:manage', organizationId),
        // Both are about version control systems.
        'can-resync': false,
        'can-retry': false,
      },
    },
    relationships: {
      organization: toOne('organizations', organizationName),
      ...(isPrivate && { versions: { links: { related: `${self}/versions` } } }),
    },
    links: { self },
  }
}
