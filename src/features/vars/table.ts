import type { Immutable, Timestamp } from '../../db/columns.ts'

/** What a variable of a workspace and one of a set have in common. */
export interface VariableColumns {
  id: Immutable<string>
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

export interface VarTable extends VariableColumns {
  workspaceId: Immutable<string>
}
