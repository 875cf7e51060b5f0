import type { Immutable, Timestamp } from '../db/columns.ts'

export interface JobTable {
  id: Immutable<string>
  name: Immutable<string>
  /** JSON object of ids. */
  payload: Immutable<string>
  /** `failed` jobs have used up their attempts and wait for a person. */
  state: 'waiting' | 'failed'
  /** When it may be claimed. A claim moves it past the lease, so that the job of a dead worker comes back. */
  runAt: Timestamp
  /** Claims so far; also what tells one claim from the next. */
  attempts: number
  lastError: string | null
  /** The name of a job that repeats, of which there is one. */
  schedule: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}
