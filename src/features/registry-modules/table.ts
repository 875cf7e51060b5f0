import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface RegistryModuleTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  registryName: Immutable<'private' | 'public'>
  /** Of a public module; a private one has its organization's name. */
  namespace: Immutable<string | null>
  name: Immutable<string>
  /** The system that it is for, such as `aws`. */
  provider: Immutable<string>
  noCode: boolean
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
