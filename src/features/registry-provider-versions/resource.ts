import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import { About, Nullable, OneOf, Text } from '../../http/schema.ts'
import {
  Exactly,
  Moment,
  Permissions,
  Related,
  RelatedAddress,
  RelatedMany,
  Shown,
} from '../../http/shown.ts'
import { fileLink } from '../../http/storage.ts'
import { SEMVER } from '../../lib/semver.ts'
import { Type } from '../../lib/type.ts'
import { pathOf } from '../registry-providers/service.ts'
import type { VersionDetails } from './service.ts'
import * as service from './service.ts'

export const TYPE = 'registry-provider-versions'
export const SHASUMS = 'provider-shasums'
export const SIGNATURE = 'provider-shasums-sig'
export const DOCS = 'provider-docs'

export const Attributes = Type.Object({
  version: Text({
    maxLength: 128,
    pattern: SEMVER,
    rule: 'a semantic version such as 1.2.3, without a "v"',
    examples: ['1.2.3'],
  }),
  'key-id': Text({
    description: 'Of the signing key that its digests are signed with.',
    examples: ['32966F3FB5AC1129'],
  }),
  protocols: Type.Array(OneOf('4.0', '5.0', '6.0'), {
    minItems: 1,
    maxItems: 3,
    uniqueItems: true,
    description: 'Versions of the plugin protocol that it speaks.',
    examples: [['5.0']],
  }),
})

/** The state of a version. */
export const Status = About(
  'A draft cannot be installed yet. What is deprecated still can be, and clients say so; what is revoked cannot.',
  OneOf('draft', 'published', 'deprecated', 'revoked'),
)

const Told = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }))

const Deprecation = Exactly(
  {
    'deprecated-status': OneOf('Deprecated'),
    reason: Told('What consumers are told.', 'It leaks connections; use 1.2.4.'),
    link: Told('Where there is more about it.', 'https://example.com/advisories/7'),
    'deprecated-at': Moment('When it was deprecated.'),
  },
  { title: 'Deprecation' },
)

const Revocation = Exactly(
  {
    status: OneOf('Revoked'),
    message: Told('Why.', 'The signing key was stolen.'),
    link: Told('Where there is more about it.', 'https://example.com/advisories/8'),
    'revoked-at': Moment('When it was revoked.'),
  },
  { title: 'Revocation' },
)

const Address = (description: string) => Type.Optional(Type.String({ description }))
const UPLOAD = 'by PUT, without a token, for the next 25 hours.'
const DOWNLOAD = 'for the next 15 minutes, without a token.'

export const Version = Shown('RegistryProviderVersion', TYPE, {
  id: 'provver-y5KZUsSBRLV9zCtL',
  attributes: {
    ...Attributes.properties,
    'created-at': Moment('When it was announced.'),
    'updated-at': Moment('When it was last changed.'),
    'shasums-uploaded': Type.Boolean(),
    'shasums-sig-uploaded': Type.Boolean(),
    // Ours.
    status: Status,
    downloads: Type.Integer({ minimum: 0, description: 'How often its archives were downloaded.' }),
    'published-at': Nullable(Moment('When it could first be installed; null for a draft.')),
    deprecation: Type.Union([Deprecation, Type.Null()]),
    revocation: Type.Union([Revocation, Type.Null()]),
    'docs-shasum': About(
      'The SHA-256 of the archive of its documentation; null without one.',
      Nullable(Type.String()),
      'e88700a3e6dc0d0e7bb2ae5f3a90bf9a4b2e0d7ac31be5b1ae7cdf4d0ab3f8d5',
    ),
    'key-expires-at': Nullable(Moment('When the signing key expires; null for never.')),
    warnings: Type.Array(
      Type.String({ examples: ['signed by key 32966F3FB5AC1129, which expired on 2026-11-21'] }),
      { description: 'What those should know who publish or install it.' },
    ),
    permissions: Permissions(['can-delete', 'can-upload-asset']),
  },
  relationships: {
    'registry-provider': Related('registry-providers'),
    platforms: RelatedMany('registry-provider-platforms'),
    // Ours, for those who manage the provider.
    consumers: Type.Optional(RelatedAddress),
  },
  links: Exactly({
    'shasums-upload': Address(`Takes the list of digests ${UPLOAD}`),
    'shasums-sig-upload': Address(`Takes the signature of that list ${UPLOAD}`),
    'shasums-download': Address(`Where the list of digests is ${DOWNLOAD}`),
    'shasums-sig-download': Address(`Where the signature of that list is ${DOWNLOAD}`),
    'docs-upload': Address(`Takes the documentation, also in place of an earlier one, ${UPLOAD}`),
  }),
})

export const doc = documents('Provider versions', 'The versions of the providers of the private registry.', {
  forbidden: 'The provider is one of the public registry.',
})

/** A version, with links as the caller may use them. */
export async function toResource(ctx: Ctx, version: VersionDetails): Promise<Resource> {
  const { provider, platforms, shasumsBlob, signatureBlob } = version
  const { organizationId } = provider
  const manages = await can(ctx, 'registry-provider-versions:manage', organizationId, provider.id)
  const mayAskWhom = await can(ctx, 'registry-providers:manage', organizationId, provider.id)
  const path = `${pathOf(provider)}/versions/${encodeURIComponent(version.version)}`
  const link = (name: string, kind: string, blob: string | null) =>
    fileLink(ctx, {
      name,
      kind,
      id: version.id,
      filename: filenameOf(kind, version),
      isUploaded: blob !== null,
      mayUpload: manages,
    })
  return {
    id: version.id,
    type: TYPE,
    attributes: {
      version: version.version,
      'key-id': version.keyId,
      protocols: JSON.parse(version.protocols),
      'created-at': version.createdAt,
      'updated-at': version.updatedAt,
      'shasums-uploaded': shasumsBlob !== null,
      'shasums-sig-uploaded': signatureBlob !== null,
      status: version.status,
      'published-at': version.publishedAt,
      downloads: platforms.reduce((sum, platform) => sum + platform.downloads, 0),
      deprecation: toDeprecation(version),
      revocation: toRevocation(version),
      'docs-shasum': version.docsSha256,
      'key-expires-at': version.keyExpiresAt,
      warnings: service.warningsOf(version, ctx.now()),
      permissions: { 'can-delete': manages, 'can-upload-asset': manages },
    },
    relationships: {
      'registry-provider': toOne('registry-providers', provider.id),
      platforms: {
        ...toMany(
          'registry-provider-platforms',
          platforms.map((platform) => platform.id),
        ),
        links: { related: `${path}/platforms` },
      },
      ...(mayAskWhom && { consumers: { links: { related: `${path}/consumers` } } }),
    },
    links: {
      ...link('shasums', SHASUMS, shasumsBlob),
      ...link('shasums-sig', SIGNATURE, signatureBlob),
      // It can be replaced at any time.
      ...link('docs', DOCS, null),
    },
  }
}

/** What people see the file called. */
export function filenameOf(kind: string, { provider, version }: VersionDetails): string {
  const name = `terraform-provider-${provider.name}_${version}_SHA256SUMS`
  return kind === SIGNATURE ? `${name}.sig` : name
}

function toDeprecation({ deprecatedAt, deprecationReason, deprecationLink }: VersionDetails) {
  return (
    deprecatedAt && {
      'deprecated-status': 'Deprecated',
      reason: deprecationReason,
      link: deprecationLink,
      'deprecated-at': deprecatedAt,
    }
  )
}

function toRevocation({ revokedAt, revocationMessage, revocationLink }: VersionDetails) {
  return (
    revokedAt && {
      status: 'Revoked',
      message: revocationMessage,
      link: revocationLink,
      'revoked-at': revokedAt,
    }
  )
}
