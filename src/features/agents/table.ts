import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface AgentTable {
  id: Immutable<string>
  agentPoolId: Immutable<string>
  name: Immutable<string>
  version: string
  ipAddress: string
  status: 'idle' | 'busy' | 'unknown' | 'errored' | 'exited'
  lastPingAt: Timestamp
  createdAt: Immutable<Timestamp>
}
