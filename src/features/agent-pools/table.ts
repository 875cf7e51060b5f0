import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface AgentPoolTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  name: string
  /** Whether every workspace of the organization may use it. */
  organizationScoped: boolean
  createdAt: Immutable<Timestamp>
}

/** A workspace that may use a pool which is not for all. */
export interface AgentPoolWorkspaceTable {
  agentPoolId: Immutable<string>
  workspaceId: Immutable<string>
}

/** A project whose workspaces may use a pool which is not for all. */
export interface AgentPoolProjectTable {
  agentPoolId: Immutable<string>
  projectId: Immutable<string>
}

/** A workspace that may not use a pool, whoever else may. */
export interface AgentPoolExclusionTable {
  agentPoolId: Immutable<string>
  workspaceId: Immutable<string>
}
