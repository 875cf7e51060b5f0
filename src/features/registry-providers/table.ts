import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface RegistryProviderTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  registryName: Immutable<'private' | 'public'>
  /** Of a public provider; a private one has its organization's name. */
  namespace: Immutable<string | null>
  name: Immutable<string>
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
