import { AppError } from '../../lib/errors.ts'

/** Where runs take place: the mode, and with `agent` the pool. */
export interface Execution {
  mode: string
  poolId: string | null
}

/** What a request says of it. */
export interface Choice {
  mode: string | undefined
  /** False to inherit both, true to keep what is in effect unless something else is given. */
  overwrites: boolean | undefined
  /** Empty and null are none. */
  poolId: string | null | undefined
  /** Where the request names the pool. */
  pointer: string
  /** Whether it comes to another project, where a pool that it has may not be for it. */
  moved?: boolean
}

/**
 * What to store: null to inherit, undefined to leave it. A mode and a pool are chosen together: whoever has a mode of
 * its own has the pool that goes with it.
 */
export function executionOf(
  { mode, overwrites, poolId, pointer }: Choice,
  own: Execution | null,
  inherited?: Execution,
): Execution | null | undefined {
  const given = poolId || null
  if (overwrites === false) {
    if (given) throw new AppError('invalid', 'Agent pool cannot be set and inherited', { pointer })
    return null
  }
  if (mode === undefined && overwrites === undefined && !given) {
    if (poolId !== undefined && own?.mode === 'agent') throw missingPool(pointer)
    return undefined
  }
  const inEffect = own ?? inherited
  const wanted = mode ?? inEffect?.mode ?? 'remote'
  if (wanted === 'agent')
    return { mode: wanted, poolId: poolOf(given, poolId === undefined, inEffect, pointer) }
  if (!given) return { mode: wanted, poolId: null }
  throw new AppError('invalid', 'Agent pool can only be set with the execution mode agent', { pointer })
}

/** The pool that was given, or else the one that is in effect if it may be kept. */
function poolOf(given: string | null, keep: boolean, inEffect: Execution | undefined, pointer: string) {
  const kept = keep && inEffect?.mode === 'agent' ? inEffect.poolId : null
  const chosen = given ?? kept
  if (!chosen) throw missingPool(pointer)
  return chosen
}

function missingPool(pointer: string): AppError {
  return new AppError('invalid', "Agent pool can't be blank with the execution mode agent", { pointer })
}
