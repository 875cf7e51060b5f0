import type { ProviderPublishResult } from '../commands/provider-publish.ts'
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

export function textOf({ release, findings, publication }: ProviderPublishResult): string {
  const { name, version, archives, protocols } = release
  if (!publication) {
    return [
      ...findings.map(findingLines),
      `${name} ${version} is in order: ${archives.length} platforms, protocols ${protocols.join(', ')}.`,
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
    '',
    requirementOf(name, source, version),
    '',
  ].join('\n')
}

export function jsonOf({ release, findings, publication }: ProviderPublishResult): object {
  const { name, version, protocols, archives } = release
  const files = archives.map(({ os, arch, filename, size, sha256 }) => ({ os, arch, filename, size, sha256 }))
  const common = { name, version, protocols, files, findings }
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
