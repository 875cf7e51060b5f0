import type { Ctx } from '../../context.ts'
import { type LogContent, NO_RECORD, newLogKey, sealRecord } from '../../lib/registry-log.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import * as store from './store.ts'

/** What can happen to something in a registry. */
export type LogAction =
  /** It can be installed now, or more of it can: `digests` has all that was added. */
  | 'publish'
  | 'deprecate'
  /** It is deprecated no more. */
  | 'undeprecate'
  | 'revoke'
  /** It is revoked no more. */
  | 'restore'
  | 'delete'
  /** Its documentation came, or was replaced: `digests` has that of its archive. */
  | 'document'
  /** A key came, went to another organization or came from there, or is there no more. */
  | 'add'
  | 'move'
  | 'remove'

interface Release {
  /** The organization's name, as clients write it. */
  namespace: string
  name: string
  version: string
  /** SHA-256 in lower-case hexadecimal by the name of the file: each archive, and `SHA256SUMS` of a provider. */
  digests: Readonly<Record<string, string>>
  /** What else is to be on record, such as the reason that people gave. */
  details?: Readonly<Record<string, string>> | undefined
}

/** What a record is about. */
export type LogSubject =
  | (Release & { kind: 'provider-version' /** Of the key that signed it. */; fingerprint: string })
  | (Release & { kind: 'module-version'; system: string })
  | {
      kind: 'gpg-key'
      namespace: string
      keyId: string
      fingerprint: string
      details?: Readonly<Record<string, string>> | undefined
    }

export interface LogEntry {
  action: LogAction
  subject: LogSubject
}

/**
 * Writes a record into the transparency log of an organization's registry, in the transaction of what it tells of: both
 * or neither exist. Permission was checked by the caller, whose subject becomes the record's actor. Nobody else can
 * append to the log of this organization before the transaction ends, so that records have neither gap nor fork;
 * append last, when all that may refuse has been done.
 *
 *     await registryLog.append(tx, organizationId, {
 *       action: 'publish',
 *       subject: { kind: 'module-version', namespace, name, system, version, digests: { 'module.tar.gz': sha256 } },
 *     })
 */
export async function append(tx: Ctx, organizationId: string, { action, subject }: LogEntry): Promise<void> {
  const { id, name } = await organizations.ownerOf(tx, { organizationId })
  const head = await store.takeHead(tx.db, id, { sequence: 0, hash: NO_RECORD })
  const key = await signingKey(tx)
  const content: LogContent = {
    organization: { id, name },
    sequence: head.sequence + 1,
    time: tx.now(),
    action,
    subject: toContent(subject),
    actor: await actorOf(tx),
    previous: head.hash,
    key: key.id,
  }
  const { hash, signature } = sealRecord(content, tx.vault.open(key.privateKey))
  await store.insert(tx.db, {
    organizationId: id,
    sequence: content.sequence,
    content: JSON.stringify(content),
    hash,
    signature,
    kind: subject.kind,
    name: subject.kind === 'gpg-key' ? subject.keyId : subject.name,
    system: subject.kind === 'module-version' ? subject.system : null,
  })
}

function toContent(subject: LogSubject): LogContent['subject'] {
  if (subject.kind !== 'gpg-key') return { ...subject }
  const { keyId, ...rest } = subject
  return { ...rest, 'key-id': keyId }
}

/** Who it was, by the name that they have now. */
async function actorOf({ subject, db }: Ctx): Promise<LogContent['actor']> {
  if (!subject) return { type: 'link', id: null, name: null }
  return { type: subject.kind, id: subject.id, name: await store.findName(db, subject.kind, subject.id) }
}

/** What signs new records; made at its first use. */
async function signingKey(tx: Ctx) {
  const current = await store.findCurrentKey(tx.db)
  if (current) return current
  const { id, publicKey, privateKey } = newLogKey()
  const sealed = tx.vault.seal(privateKey)
  await store.insertKey(tx.db, { id, serial: 1, publicKey, privateKey: sealed, createdAt: tx.now() })
  const made = await store.findCurrentKey(tx.db)
  if (!made) throw new Error('the key of the registry log is gone')
  return made
}

/** A log goes with its organization; where it ended stays in the audit trail. */
export async function noteEnd(tx: Ctx, { id, name }: { id: string; name: string }): Promise<void> {
  const head = await store.findHead(tx.db, id)
  if (!head) return
  const meta = { sequence: String(head.sequence), hash: head.hash }
  await audit.record(tx, {
    action: 'destroy',
    organizationId: id,
    resourceType: 'registry_log',
    resourceId: name,
    meta,
  })
}
