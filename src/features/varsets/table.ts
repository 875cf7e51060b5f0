import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface VarsetTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** The project that owns it, if it is not the organization's. */
  parentProjectId: Immutable<string | null>
  name: string
  description: string
  /** Whether it applies to every workspace. */
  global: boolean
  /** Whether it beats what is more specific, also what a run is given. */
  priority: boolean
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}

export interface VarsetWorkspaceTable {
  varsetId: Immutable<string>
  workspaceId: Immutable<string>
}

export interface VarsetProjectTable {
  varsetId: Immutable<string>
  projectId: Immutable<string>
}

/** The columns of a variable of a workspace, of which the rules hold here too. */
export interface VarsetVarTable {
  id: Immutable<string>
  varsetId: Immutable<string>
  /** The organization, while the set is global: the keys of all global sets are different. */
  globalIn: string | null
  key: string
  /** Sealed. */
  value: string
  description: string
  category: 'terraform' | 'env'
  /** Whether the value is an expression of HCL. */
  hcl: boolean
  /** Whether the value is never shown again. */
  sensitive: boolean
  /** Changes with the variable. */
  versionId: string
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
