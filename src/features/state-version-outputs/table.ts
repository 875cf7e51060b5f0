import type { Immutable } from '../../db/columns.ts'

export interface StateVersionOutputTable {
  id: Immutable<string>
  stateVersionId: Immutable<string>
  name: Immutable<string>
  sensitive: Immutable<boolean>
  /** One word, such as `string` or `array`. */
  type: Immutable<string>
  /** JSON: the type as the engine tells it. */
  detailedType: Immutable<string>
  /** Sealed JSON. */
  value: Immutable<string>
}
