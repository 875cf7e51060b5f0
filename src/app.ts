import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { FileBlobStore } from './blobs/file.ts'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { Services } from './context.ts'
import { type Connection, connect } from './db/connect.ts'
import { checkDatabase } from './db/health.ts'
import { readingHandle } from './db/transaction.ts'
import { routes as auditTrail } from './features/audit-trail/routes.ts'
import { routes as discovery } from './features/discovery/routes.ts'
import { routes as organizations } from './features/organizations/routes.ts'
import { onCreate as onCreateOrganization } from './features/organizations/service.ts'
import { routes as reservedTagKeys } from './features/reserved-tag-keys/routes.ts'
import { createOwners, loadAccess } from './features/teams/service.ts'
import { routes as tokens } from './features/tokens/routes.ts'
import { authenticate, ensureBootstrap } from './features/tokens/service.ts'
import { routes as users } from './features/users/routes.ts'
import type { App, Routes } from './http/routes.ts'
import { createServer } from './http/server.ts'
import { Links } from './lib/links.ts'
import { timestamp } from './lib/time.ts'

/** Every slice, one line each. */
const ROUTES: readonly Routes[] = [auditTrail, discovery, organizations, reservedTagKeys, tokens, users]

export interface RunningServer {
  /** The public address. */
  url: string
  /** The file with the first admin's token, unless the operator chose the token. */
  adminTokenFile: string | undefined
  /** Finishes the requests under way, then closes everything. */
  stop: () => Promise<void>
}

/** Connects, migrates, and listens. */
export async function start(config: Config, secrets: Secrets, log: Logger): Promise<RunningServer> {
  const connection = await connect(config.database, (error) =>
    log.warn({ err: error }, 'a database connection broke'),
  )
  const services = await assemble(config, secrets, log, connection)
  onCreateOrganization(createOwners)
  const adminTokenFile = await ensureBootstrap(services, secrets)
  const app = createServer({ services, authenticate, routes: ROUTES })
  await app.listen(config.listen)
  services.baseUrl = config.url ?? listeningUrl(app, config)
  return {
    url: services.baseUrl,
    adminTokenFile,
    stop: async () => {
      await app.close()
      await connection.close()
    },
  }
}

async function assemble(
  config: Config,
  secrets: Secrets,
  log: Logger,
  connection: Connection,
): Promise<Services> {
  const blobs = await FileBlobStore.open(config.blobs.path)
  const services: Services = {
    config,
    baseUrl: '',
    connection,
    db: readingHandle(connection),
    blobs,
    links: new Links(secrets.derive('links'), () => services.baseUrl),
    log,
    now: () => timestamp(new Date()),
    notReady: () => listProblems(services),
    loadAccess,
  }
  return services
}

async function listProblems({ db, blobs, log }: Services): Promise<string[]> {
  const checks = { database: checkDatabase(db), blobs: blobs.check() }
  const problems: string[] = []
  for (const [name, check] of Object.entries(checks)) {
    await check.catch((error: unknown) => {
      log.warn({ err: error }, `not ready: ${name}`)
      problems.push(name)
    })
  }
  return problems
}

/** The address to reach a server that was given no public one: the listener's, with its actual port. */
function listeningUrl(app: App, config: Config): string {
  const { port } = app.server.address() as AddressInfo
  const host = ['0.0.0.0', '::'].includes(config.listen.host) ? 'localhost' : config.listen.host
  const name = host.includes(':') ? `[${host}]` : host
  return `${config.tls ? 'https' : 'http'}://${name}:${port}`
}
