export type { VariableColumns } from './table.ts'
