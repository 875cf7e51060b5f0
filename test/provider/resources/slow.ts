import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { Failure } from '../schema.ts'
import { UNKNOWN, type Values } from '../values.ts'
import type { Context, Resource } from './resource.ts'

/** Something that takes its time to make and to change, and is nowhere but in the state. */
export const slow: Resource = {
  attributes: {
    id: { type: 'string', description: 'A name made up when it was made.', computed: true },
    seconds: {
      type: 'number',
      description: 'How long every apply takes.',
      required: true,
      check: (seconds) => (Number(seconds) >= 0 ? undefined : 'It must not be negative.'),
    },
  },
  create: apply,
  update: apply,
  read: async (_context, state) => state,
  remove: async () => {},
  describe: (id) => ({ id, seconds: 0 }),
}

async function apply({ signal }: Context, planned: Values): Promise<Values> {
  const { id, seconds } = planned
  await setTimeout(Number(seconds) * 1000, undefined, { signal }).catch(() => {
    throw new Failure('Stopped', 'Terraform asked to stop before it was done.')
  })
  return { ...planned, id: id === UNKNOWN ? randomUUID() : (id ?? null) }
}
