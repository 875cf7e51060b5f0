import type { Immutable } from '../../db/columns.ts'
import type { PhaseColumns } from '../../lib/phases.ts'

export interface ApplyTable extends PhaseColumns {
  id: Immutable<string>
  runId: Immutable<string>
}
