import type { ProviderPublishResult } from '../commands/provider-publish.ts'
import type { Publication } from '../publish/publish.ts'
import type { Release } from '../release/release.ts'
import { findingLines } from './text.ts'

/** What a configuration says to get the provider. */
function requirementOf(name: string, source: string, version: string): string {
  return [
    'terraform {',
    '  required_providers {',
    `    ${name} = {`,
    `      source  = "${source}"`,
    `      version = "${version}"`,
    '    }',
    '  }',
    '}',
  ].join('\n')
}

function docsLines({ docs }: Release, publication: Publication | undefined): string[] {
  if (!docs) return []
  const isOne = docs.pages.length === 1
  const pages = `${docs.pages.length} ${isOne ? 'page' : 'pages'}`
  if (!publication?.docs) return [`Documentation: ${pages} from ${docs.directory}.`]
  const { status, url } = publication.docs
  if (status === 'not-taken') return ['Documentation: not sent, because the server takes none.']
  const what =
    status === 'sent'
      ? `${pages} from ${docs.directory}`
      : `${pages}, ${isOne ? 'as it was' : 'as they were'}`
  return [`Documentation: ${what}, to be read at ${url}`]
}

export function textOf({ release, findings, publication }: ProviderPublishResult): string {
  const { name, version, archives, protocols } = release
  if (!publication) {
    return [
      ...findings.map(findingLines),
      `${name} ${version} is in order: ${archives.length} platforms, protocols ${protocols.join(', ')}.`,
      ...docsLines(release, undefined),
      'Nothing was sent (--dry-run).',
      '',
    ].join('\n')
  }
  const { status, source, verification, keyId } = publication
  const seen = verification.downloads ? 'archives, digests and signature' : 'digests and signature'
  return [
    ...verification.warnings.map((warning) => `Clients are told: ${warning}`),
    `${status === 'published' ? 'Published' : 'Already published:'} ${source} ${version}, signed by key ${keyId}.`,
    `Verified through the registry for ${verification.platforms.join(', ')}: ${seen}.`,
    ...docsLines(release, publication),
    '',
    requirementOf(name, source, version),
    '',
  ].join('\n')
}

export function jsonOf({ release, findings, publication }: ProviderPublishResult): object {
  const { name, version, protocols, archives } = release
  const files = archives.map(({ os, arch, filename, size, sha256 }) => ({ os, arch, filename, size, sha256 }))
  const docs = release.docs && {
    directory: release.docs.directory,
    pages: release.docs.pages,
    shasum: release.docs.sha256,
    ...publication?.docs,
  }
  const common = { name, version, protocols, files, docs: docs ?? null, findings }
  if (!publication) return { status: 'dry-run', ...common }
  const { status, source, keyId, created, uploaded, verification } = publication
  return {
    status,
    source,
    ...common,
    'key-id': keyId,
    created,
    uploaded,
    verified: verification,
    'required-providers': requirementOf(name, source, version),
  }
}
