import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface ProjectTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  name: string
  description: string
  autoDestroyActivityDuration: string | null
  defaultExecutionMode: string | null
  defaultAgentPoolId: string | null
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
