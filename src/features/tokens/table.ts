import type { Immutable, Timestamp } from '../../db/columns.ts'

/** Exactly one of the five owners is set. */
export interface TokenTable {
  id: Immutable<string>
  /** SHA-256 of the token, hexadecimal; the token itself is shown once and never stored. */
  hash: Immutable<string>
  userId: Immutable<string | null>
  teamId: Immutable<string | null>
  organizationId: Immutable<string | null>
  agentPoolId: Immutable<string | null>
  runId: Immutable<string | null>
  createdById: Immutable<string | null>
  description: Immutable<string | null>
  /** JSON array of the providers that it is limited to publishing; null for all that its owner may. */
  registryProviderIds: Immutable<string | null>
  /** The first site admin's token, which follows the configuration. */
  isBootstrap: Immutable<boolean>
  createdAt: Immutable<Timestamp>
  lastUsedAt: Timestamp | null
  expiredAt: Immutable<Timestamp | null>
}
