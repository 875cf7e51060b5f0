import type { Logger } from 'pino'
import type { BlobStore } from './blobs/blob-store.ts'
import { FileBlobStore } from './blobs/file.ts'
import { observeBlobs } from './blobs/observed.ts'
import { SealedBlobs } from './blobs/sealed.ts'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { Services } from './context.ts'
import { connect } from './db/connect.ts'
import { checkDatabase } from './db/health.ts'
import { type Db, readingHandle } from './db/transaction.ts'
import { loadAccess } from './features/teams/access.ts'
import { loadSubject } from './features/tokens/authentication.ts'
import { Links } from './lib/links.ts'
import { Metrics } from './lib/metrics.ts'
import { timestamp } from './lib/time.ts'
import { Upstreams } from './lib/upstreams.ts'
import { Vault } from './lib/vault.ts'

/** Opens what every part of the server shares, and brings the database up to date. */
export async function assemble(config: Config, secrets: Secrets, log: Logger): Promise<Services> {
  const metrics = new Metrics()
  const blobs = observeBlobs(await FileBlobStore.open(config.blobs.path), metrics)
  const connection = await connect(
    config.database,
    (error) => log.warn({ err: error }, 'a database connection broke'),
    (statement, seconds) => metrics.queryEnded(statement, seconds),
  )
  const db = readingHandle(connection)
  const vault = new Vault(secrets.vaultKeys)
  const services: Services = {
    config,
    baseUrl: '',
    connection,
    db,
    blobs,
    sealed: new SealedBlobs(blobs, vault),
    vault,
    links: new Links(secrets.derive('links'), () => services.baseUrl, secrets.deriveOld('links')),
    log,
    metrics,
    upstreams: new Upstreams(config.mirror.upstreams, secrets.mirrorTokens),
    now: () => timestamp(new Date()),
    notReady: () => listProblems(db, blobs, log),
    loadSubject,
    loadAccess,
  }
  return services
}

async function listProblems(db: Db, blobs: BlobStore, log: Logger): Promise<string[]> {
  const checks = { database: () => checkDatabase(db), blobs: () => blobs.check() }
  const problems: string[] = []
  for (const [name, check] of Object.entries(checks)) {
    await check().catch((error: unknown) => {
      log.warn({ err: error }, `not ready: ${name}`)
      problems.push(name)
    })
  }
  return problems
}
