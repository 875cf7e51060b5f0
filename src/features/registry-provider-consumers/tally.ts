import { Tally } from '../../jobs/tally.ts'
import type { Downloads } from './store.ts'
import * as store from './store.ts'

/** Downloads; they are written down within a second. */
export const downloads = new Tally<Downloads>(
  ({ platformId, subjectKind, subjectId }) => [platformId, subjectKind, subjectId].join(' '),
  store.add,
)
