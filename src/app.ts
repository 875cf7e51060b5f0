import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { FileBlobStore } from './blobs/file.ts'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { Services } from './context.ts'
import { type Connection, connect } from './db/connect.ts'
import { checkDatabase } from './db/health.ts'
import { readingHandle } from './db/transaction.ts'
import { routes as applies } from './features/applies/routes.ts'
import { routes as auditTrail } from './features/audit-trail/routes.ts'
import { routes as discovery } from './features/discovery/routes.ts'
import { routes as gpgKeys } from './features/gpg-keys/routes.ts'
import { routes as organizationMemberships } from './features/organization-memberships/routes.ts'
import { acceptInvitations, addFounder, leaveOwners } from './features/organization-memberships/service.ts'
import { routes as organizations } from './features/organizations/routes.ts'
import { onCreate as onCreateOrganization } from './features/organizations/service.ts'
import { routes as projects } from './features/projects/routes.ts'
import {
  createDefault as createDefaultProject,
  bindingOwners as projectOwners,
} from './features/projects/service.ts'
import { routes as providerProtocol } from './features/provider-protocol/routes.ts'
import { routes as registryProviderPlatforms } from './features/registry-provider-platforms/routes.ts'
import { routes as registryProviderVersions } from './features/registry-provider-versions/routes.ts'
import { removeAll as removeProviderVersions } from './features/registry-provider-versions/service.ts'
import { routes as registryProviders } from './features/registry-providers/routes.ts'
import { onRemove as onRemoveProvider } from './features/registry-providers/service.ts'
import { routes as reservedTagKeys } from './features/reserved-tag-keys/routes.ts'
import { routesOf as tagBindingsOf } from './features/tag-bindings/routes.ts'
import { routes as tags } from './features/tags/routes.ts'
import { loadAccess } from './features/teams/access.ts'
import { routes as teams } from './features/teams/routes.ts'
import { authenticate } from './features/tokens/authentication.ts'
import { ensureBootstrap } from './features/tokens/bootstrap.ts'
import { routes as tokens } from './features/tokens/routes.ts'
import { routes as users } from './features/users/routes.ts'
import { onAddress, onRemove as onRemoveUser } from './features/users/service.ts'
import { lockRoutes as workspaceLocks } from './features/workspaces/lock-routes.ts'
import { routes as workspaces } from './features/workspaces/routes.ts'
import { bindingOwners as workspaceOwners } from './features/workspaces/service.ts'
import type { App, Routes } from './http/routes.ts'
import { createServer } from './http/server.ts'
import { Links } from './lib/links.ts'
import { timestamp } from './lib/time.ts'

/** Every slice, one line each. */
const ROUTES: readonly Routes[] = [
  applies,
  auditTrail,
  discovery,
  gpgKeys,
  organizationMemberships,
  organizations,
  projects,
  providerProtocol,
  registryProviderPlatforms,
  registryProviderVersions,
  registryProviders,
  reservedTagKeys,
  tagBindingsOf(projectOwners),
  tagBindingsOf(workspaceOwners),
  tags,
  teams,
  tokens,
  users,
  workspaceLocks,
  workspaces,
]

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
  try {
    return await serve(await assemble(config, secrets, log, connection), secrets)
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function serve(services: Services, secrets: Secrets): Promise<RunningServer> {
  const { config, connection } = services
  onCreateOrganization(addFounder)
  onCreateOrganization(createDefaultProject)
  onAddress(acceptInvitations)
  onRemoveUser(leaveOwners)
  onRemoveProvider(removeProviderVersions)
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
