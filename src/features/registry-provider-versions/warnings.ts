import type { RegistryProviderVersion } from './store.ts'

type Told = Pick<
  RegistryProviderVersion,
  | 'status'
  | 'deprecationReason'
  | 'deprecationLink'
  | 'revocationMessage'
  | 'revocationLink'
  | 'keyId'
  | 'keyExpiresAt'
>

/** What those should know who publish or install a version; a part of a sentence each. */
export function warningsOf(version: Told, now: string): string[] {
  const { status, keyId, keyExpiresAt } = version
  const warnings: string[] = []
  if (status === 'deprecated')
    warnings.push(saying(status, version.deprecationReason, version.deprecationLink))
  if (status === 'revoked') warnings.push(saying(status, version.revocationMessage, version.revocationLink))
  if (keyExpiresAt && keyExpiresAt <= now)
    warnings.push(`signed by key ${keyId}, which expired on ${keyExpiresAt.slice(0, 10)}`)
  return warnings
}

/** Without the full stop that people may have put behind the reason: what shows it puts one. */
function saying(status: string, reason: string | null, link: string | null): string {
  return `${status}${reason ? `: ${reason.replace(/\.$/, '')}` : ''}${link ? ` (${link})` : ''}`
}
