import type { Immutable, Timestamp } from '../../db/columns.ts'
import type { VariableColumns } from '../vars/service.ts'

export interface VarsetTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** The project that owns it, if it is not the organization's. */
  parentProjectId: Immutable<string | null>
  name: string
  description: string
  /** Whether it applies to every workspace. */
  global: boolean
  /** Whether it overrides what is more specific. */
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

export interface VarsetVarTable extends VariableColumns {
  varsetId: Immutable<string>
}
