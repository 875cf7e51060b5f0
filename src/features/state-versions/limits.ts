import type { Ctx } from '../../context.ts'

/**
 * Bytes of a state in the form for programs at most: it says more of the same than the raw state, and a client whose
 * second upload fails takes the state for lost.
 */
export function maxJsonBytes({ config }: Pick<Ctx, 'config'>): number {
  return 4 * config.maxStateBytes
}
