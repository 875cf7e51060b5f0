import type { Immutable } from '../../db/columns.ts'
import type { PhaseColumns } from '../../lib/phases.ts'

export interface PlanTable extends PhaseColumns {
  id: Immutable<string>
  runId: Immutable<string>
  hasChanges: boolean
  generatedConfiguration: boolean
  /** What `terraform plan -out` wrote; this and the other files are sealed. */
  planFileKey: string | null
  lockFileKey: string | null
  jsonOutputKey: string | null
  jsonOutputRedactedKey: string | null
  jsonSchemaKey: string | null
}
