import type { PhaseColumns } from '../plans/service.ts'

export type ApplyTable = PhaseColumns
