import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { About, Nullable, OneOf, Text } from '../../http/schema.ts'
import { Exactly, Moment, Permissions, Related, RelatedOrNone, Shown } from '../../http/shown.ts'
import { uploadLink } from '../../http/storage.ts'
import { DOWNLOAD_SECONDS } from '../../lib/links.ts'
import { SEMVER } from '../../lib/semver.ts'
import { Type } from '../../lib/type.ts'
import { pathOf } from '../registry-modules/service.ts'
import { filenameOf, type VersionDetails } from './details.ts'

export const TYPE = 'registry-module-versions'

/** Of archives, in links. */
export const ARCHIVE = 'module-archive'

export const Version = Text({
  maxLength: 128,
  pattern: SEMVER,
  rule: 'a semantic version such as 1.2.3, without a "v"',
  examples: ['1.2.3'],
})

export const CommitSha = Type.Optional(
  Nullable(Type.String({ maxLength: 255, description: 'The commit that it was made from; only kept.' })),
)

const Deprecation = Exactly({
  reason: Nullable(Type.String({ examples: ['It opens a port to everybody.'] })),
  link: Nullable(Type.String({ examples: ['https://example.com/migrate'] })),
  'deprecated-at': Moment('When it was deprecated.'),
})

export const ShownVersion = Shown('RegistryModuleVersion', TYPE, {
  id: 'modver-y5KZUsSBRLV9zCtL',
  attributes: {
    version: Version,
    status: About(
      '`ok` once it can be installed; `reg_ingress_failed` when its archive was refused, and it takes another.',
      OneOf('pending', 'reg_ingress_failed', 'ok'),
    ),
    source: OneOf('tfe-api'),
    'created-at': Moment('When it was announced.'),
    'updated-at': Moment('When it was last changed.'),
    // Ours.
    error: Nullable(Type.String({ description: 'Why its archive was refused.' })),
    'commit-sha': Nullable(Type.String()),
    sha256: Nullable(Type.String({ description: 'Of the archive, hexadecimal.' })),
    size: Nullable(Type.Integer({ description: 'Bytes of the archive.' })),
    downloads: Type.Integer({ description: 'How often its archive was downloaded, some seconds ago.' }),
    warnings: Type.Array(Type.String({ examples: ['main.tf: it cannot be read from line 3 on'] }), {
      description: 'What of its configuration could not be read to describe it.',
    }),
    deprecation: Nullable(Deprecation),
    permissions: Permissions(['can-delete', 'can-upload-asset']),
  },
  relationships: { 'registry-module': Related('registry-modules') },
  links: Exactly({
    self: Type.String(),
    upload: Type.Optional(
      Type.String({ description: 'Takes the archive by PUT, without a token, for the next 25 hours.' }),
    ),
    download: Type.Optional(
      Type.String({ description: 'Where the archive is for the next 15 minutes, without a token.' }),
    ),
  }),
})

export async function toResource(ctx: Ctx, version: VersionDetails): Promise<Resource> {
  const { id, module, status } = version
  const manages = await can(ctx, 'registry-modules:manage', module.organizationId)
  const upload = status !== 'ok' && manages ? uploadLink(ctx, ARCHIVE, id) : undefined
  return {
    id,
    type: TYPE,
    attributes: {
      version: version.version,
      status,
      source: 'tfe-api',
      'created-at': version.createdAt,
      'updated-at': version.updatedAt,
      error: version.error,
      'commit-sha': version.commitSha,
      sha256: version.sha256,
      size: version.size,
      downloads: version.downloads,
      warnings: JSON.parse(version.warnings),
      deprecation: version.deprecatedAt && {
        reason: version.deprecationReason,
        link: version.deprecationLink,
        'deprecated-at': version.deprecatedAt,
      },
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: { 'registry-module': toOne('registry-modules', module.id) },
    links: {
      self: `${pathOf(module)}/${encodeURIComponent(version.version)}`,
      ...(upload && { upload }),
      ...(status === 'ok' && { download: downloadLink(ctx, version) }),
    },
  }
}

/** Where the archive of a published version is; how it ends tells clients what it is. */
export function downloadLink(ctx: Ctx, version: VersionDetails): string {
  const target = { method: 'GET', kind: ARCHIVE, id: version.id } as const
  return ctx.links.sign(target, ctx.now(), DOWNLOAD_SECONDS, filenameOf(version))
}

/** How the public API answers a deprecation: the version bare, what is said of it beside. */
export const DeprecatedVersion = Shown('DeprecatedModuleVersion', 'module-versions', {
  id: 'modver-y5KZUsSBRLV9zCtL',
  relationships: { deprecation: RelatedOrNone('deprecations') },
})

export function toDeprecatedVersion({ id, deprecatedAt }: VersionDetails): Resource {
  const relationships = { deprecation: toOne('deprecations', deprecatedAt && id) }
  return { id, type: 'module-versions', relationships }
}

export function toDeprecation({ id, deprecationReason, deprecationLink }: VersionDetails): Resource {
  return { id, type: 'deprecations', attributes: { reason: deprecationReason, link: deprecationLink } }
}
