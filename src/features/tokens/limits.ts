import type { Ctx } from '../../context.ts'
import { refuse, type Violation } from '../../lib/errors.ts'
import * as providers from '../registry-providers/service.ts'
import * as teams from '../teams/service.ts'
import type { Owner } from './store.ts'

const POINTER = '/data/relationships/registry-providers'

/**
 * Checks what a new token is to be limited to, and returns how its row says so; null for a token that may all that its
 * owner may. Asking for a limit never makes a token without one: what cannot be limited is refused.
 */
export async function toLimit(
  tx: Ctx,
  owner: Owner,
  ids: readonly string[] | undefined,
): Promise<string | null> {
  if (ids === undefined) return null
  refuse(await violationsOf(tx, owner, ids))
  return JSON.stringify([...new Set(ids)])
}

async function violationsOf(tx: Ctx, owner: Owner, ids: readonly string[]): Promise<Violation[]> {
  if (!('userId' in owner || 'teamId' in owner)) {
    const detail = 'Registry providers can only be given to tokens of users and teams: no others publish'
    return [{ detail, pointer: POINTER }]
  }
  if (ids.length === 0) {
    return [{ detail: 'Registry providers must name at least one', pointer: `${POINTER}/data` }]
  }
  const organizationId = 'teamId' in owner ? await teams.organizationOf(tx, owner.teamId) : undefined
  const visible = await providers.listVisible(tx, ids)
  const possible = visible.filter((provider) => !organizationId || provider.organizationId === organizationId)
  const known = new Set(possible.map(({ id }) => id))
  return ids.flatMap((id, index) => {
    const detail = `Id is not of a private provider${organizationId ? ' of the team’s organization' : ''} that you may see`
    return known.has(id) ? [] : [{ detail, pointer: `${POINTER}/data/${index}/id` }]
  })
}
