import type { Ctx } from '../context.ts'
import { afterCommit } from '../db/transaction.ts'
import { AppError, notFound } from '../lib/errors.ts'
import type { Blob } from './store.ts'
import * as store from './store.ts'

// What slices do with the files that belong to their rows.

/** What is known of an uploaded file; 404 until it is uploaded. */
export async function getFile(ctx: Ctx, key: string | null): Promise<Blob> {
  const blob = key && (await store.find(ctx.db, key))
  if (!blob) throw notFound()
  return blob
}

/** Whether these bytes were uploaded before. Other bytes than those that were: 409, they cannot be replaced. */
export async function isUploaded(tx: Ctx, key: string | null, sha256: string): Promise<boolean> {
  if (!key) return false
  const { sha256: uploaded } = await getFile(tx, key)
  if (uploaded === sha256) return true
  throw new AppError(
    'conflict',
    `The file was uploaded already, with SHA-256 ${uploaded}; it cannot be replaced.`,
  )
}

/** Forgets files in the transaction, and removes their bytes once it has committed. */
export async function removeFiles(tx: Ctx, keys: readonly (string | null)[]): Promise<void> {
  const known = keys.filter((key) => key !== null)
  await store.forget(tx.db, known)
  afterCommit(async () => {
    for (const key of known) {
      await tx.blobs
        .remove(key)
        .catch((error: unknown) => tx.log.warn({ err: error }, 'a blob was not removed'))
    }
  })
}
