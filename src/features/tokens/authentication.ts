import type { Subject } from '../../auth/subject.ts'
import type { Services } from '../../context.ts'
import { remember } from '../../db/remembered.ts'
import { inTransaction } from '../../db/transaction.ts'
import { hashOf } from './hash.ts'
import * as store from './store.ts'

/** `last-used-at` is this exact, so that reading does not mean writing. */
const LAST_USED_PRECISION_MS = 60_000

/** The owner of a bearer token; undefined when it is unknown or has expired. */
export async function authenticate(services: Services, token: string): Promise<Subject | undefined> {
  const hash = hashOf(token)
  const found = await remember(services, `token ${hash}`, (db) => store.findOwner(db, hash))
  const now = services.now()
  if (!found || hasExpired(found, now)) return undefined
  if (!found.lastUsedAt || Date.parse(now) - Date.parse(found.lastUsedAt) > LAST_USED_PRECISION_MS) {
    noteUse(services, found.id)
  }
  return subjectOf(found)
}

/** Whom a token speaks for, by its id: for links that end with it. Undefined when it was revoked or has expired. */
export async function loadSubject(services: Services, tokenId: string): Promise<Subject | undefined> {
  const found = await store.findOwnerById(services.db, tokenId)
  return found && !hasExpired(found, services.now()) ? subjectOf(found) : undefined
}

function hasExpired({ expiredAt }: Found, now: string): boolean {
  return expiredAt !== null && expiredAt <= now
}

type Found = NonNullable<Awaited<ReturnType<typeof store.findOwner>>>

/** Exactly one owner is set. */
function subjectOf(found: Found): Subject | undefined {
  const common = { tokenId: found.id, expiresAt: found.expiredAt }
  const limit = found.registryProviderIds && { registryProviderIds: JSON.parse(found.registryProviderIds) }
  if (found.userId)
    return { kind: 'user', id: found.userId, isSiteAdmin: found.isSiteAdmin === true, ...limit, ...common }
  if (found.teamId && found.teamOrganizationId) {
    return { kind: 'team', id: found.teamId, organizationId: found.teamOrganizationId, ...limit, ...common }
  }
  if (found.agentPoolId && found.poolOrganizationId) {
    return { kind: 'agent', id: found.agentPoolId, organizationId: found.poolOrganizationId, ...common }
  }
  const { runId, runWorkspaceId: workspaceId, runOrganizationId: organizationId } = found
  if (runId && workspaceId && organizationId) {
    return { kind: 'run', id: runId, workspaceId, organizationId, ...common }
  }
  return found.organizationId ? { kind: 'organization', id: found.organizationId, ...common } : undefined
}

/** Beside the request: nobody waits for it, and when it fails the next request tries again. */
function noteUse(services: Services, tokenId: string): void {
  inTransaction(services, (tx) => store.touch(tx.db, tokenId, tx.now())).catch((error: unknown) =>
    services.log.warn({ err: error }, 'the last use of a token was not recorded'),
  )
}
