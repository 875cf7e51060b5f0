import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Secrets, secretFile } from '../../config/secrets.ts'
import type { Services } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId, newSecret } from '../../lib/ids.ts'
import * as users from '../users/service.ts'
import { hashOf } from './hash.ts'
import * as store from './store.ts'

/**
 * Makes sure that the first site administrator can get in: with the configured token, which replaces the one
 * before, or else with one that is generated into `<data>/admin-token` when the administrator is made, and
 * never again: a token that was revoked stays so. Returns the file's path while it is there.
 */
export async function ensureBootstrap(services: Services, secrets: Secrets): Promise<string | undefined> {
  const path = join(services.config.dataDir, 'admin-token')
  // Of servers that start together one makes the administrator; the others find what it has made.
  await make(services, secrets, path).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error
    return make(services, secrets, path)
  })
  return !secrets.adminToken && existsSync(path) ? path : undefined
}

function make(services: Services, secrets: Secrets, path: string): Promise<void> {
  return inTransaction(services, async (tx) => {
    const { user: admin, isNew } = await users.ensureFirstAdmin(tx)
    if (!secrets.adminToken && !isNew) return
    // The file is written first: a crash in between leaves a token that the next start takes up.
    const hash = hashOf(secrets.adminToken ?? secretFile(path, newSecret).text)
    const existing = await store.findBootstrap(tx.db)
    if (existing?.hash === hash) return
    if (existing) await store.remove(tx.db, existing.id)
    await store.insert(tx.db, {
      id: newId('at'),
      hash,
      userId: existing?.userId ?? admin.id,
      teamId: null,
      organizationId: null,
      createdById: null,
      description: 'First site administrator',
      registryProviderIds: null,
      isBootstrap: true,
      createdAt: tx.now(),
      lastUsedAt: null,
      expiredAt: null,
    })
  })
}
