import type { Logger } from 'pino'
import type { Access } from './auth/permissions.ts'
import type { Subject } from './auth/subject.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { SealedBlobs } from './blobs/sealed.ts'
import type { Config } from './config/config.ts'
import type { Timestamp } from './db/columns.ts'
import type { Db, HasDatabase } from './db/transaction.ts'
import type { Links } from './lib/links.ts'
import type { Metrics } from './lib/metrics.ts'
import type { Upstreams } from './lib/upstreams.ts'
import type { Vault } from './lib/vault.ts'

/** What every part of the server shares for as long as it runs. */
export interface Services extends HasDatabase {
  config: Config
  /** The public address, without a slash at the end. */
  baseUrl: string
  blobs: BlobStore
  links: Links
  /** The same store for what must not be readable where it lies. */
  sealed: SealedBlobs
  /** The same for texts in the database. */
  vault: Vault
  log: Logger
  metrics: Metrics
  /** Registries that the provider mirror asks. */
  upstreams: Upstreams
  /** The clock; nothing else reads it. */
  now: () => Timestamp
  /** What keeps the server from serving now, by name; empty when nothing does. */
  notReady: () => Promise<string[]>
  /** Whom a token speaks for, by its id; undefined when it was revoked or has expired. */
  loadSubject: (services: Services, tokenId: string) => Promise<Subject | undefined>
  loadAccess: (db: Db, subject: Subject, organizationId: string) => Promise<Access>
}

/** What a request may use, and what is known about it. */
export interface Ctx extends Services {
  /** Undefined on the few routes that need no token. */
  subject: Subject | undefined
  request: {
    id: string
    /** Set by `authorize`. */
    authorized: boolean
    /** The subject's access by organization id. */
    access: Map<string, Access>
  }
}
