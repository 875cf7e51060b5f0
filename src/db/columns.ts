import type { ColumnType } from 'kysely'

/** ISO 8601 with milliseconds in UTC, stored as text: the same value and the same order in both dialects. */
export type Timestamp = string

/** A column that is written once, when the row is inserted. */
export type Immutable<T> = ColumnType<T, T, never>
