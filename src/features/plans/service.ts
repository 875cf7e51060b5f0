export type { PhaseColumns, PhaseStatus } from './table.ts'
