import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { sweepBlobs } from './blobs/jobs.ts'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { Services } from './context.ts'
import { routes as agentPools } from './features/agent-pools/routes.ts'
import { watchAgents } from './features/agents/jobs.ts'
import { routes as agents } from './features/agents/routes.ts'
import { wireFileRoutes as agentWireFiles } from './features/agents/wire-file-routes.ts'
import { wireRoutes as agentWire } from './features/agents/wire-routes.ts'
import { erroredStateRoutes } from './features/applies/errored-state-routes.ts'
import { routes as applies } from './features/applies/routes.ts'
import { routes as auditTrail } from './features/audit-trail/routes.ts'
import { routes as cliDownloads } from './features/cli-downloads/routes.ts'
import { routes as comments } from './features/comments/routes.ts'
import { routes as configurationVersions } from './features/configuration-versions/routes.ts'
import { routes as discovery } from './features/discovery/routes.ts'
import { routesOf as documentationOf } from './features/documentation/routes.ts'
import { reapExecutions } from './features/executions/jobs.ts'
import { routes as gpgKeys } from './features/gpg-keys/routes.ts'
import { moveLogs } from './features/logs/jobs.ts'
import { routes as logs } from './features/logs/routes.ts'
import { routes as moduleProtocol } from './features/module-protocol/routes.ts'
import { sweepCodes } from './features/oauth/jobs.ts'
import { routes as oauth } from './features/oauth/routes.ts'
import { routes as organizationMemberships } from './features/organization-memberships/routes.ts'
import { routes as organizations } from './features/organizations/routes.ts'
import { routes as plans } from './features/plans/routes.ts'
import { routes as projects } from './features/projects/routes.ts'
import { bindingOwners as projectOwners } from './features/projects/service.ts'
import { fileRoutes as providerMirrorFiles } from './features/provider-mirror/file-routes.ts'
import { keptRoutes as mirroredProviders } from './features/provider-mirror/kept-routes.ts'
import { registryRoutes as providerMirrorRegistry } from './features/provider-mirror/registry-routes.ts'
import { routes as providerMirror } from './features/provider-mirror/routes.ts'
import { routes as providerProtocol } from './features/provider-protocol/routes.ts'
import { routes as registryLog } from './features/registry-log/routes.ts'
import { routes as registryModuleVersions } from './features/registry-module-versions/routes.ts'
import { writeDownloads as writeModuleDownloads } from './features/registry-module-versions/service.ts'
import { routes as registryModules } from './features/registry-modules/routes.ts'
import { routes as registryProviderConsumers } from './features/registry-provider-consumers/routes.ts'
import { writeDownloads } from './features/registry-provider-consumers/service.ts'
import { pageRoutes as registryProviderDocPages } from './features/registry-provider-docs/page-routes.ts'
import { routes as registryProviderDocs } from './features/registry-provider-docs/routes.ts'
import { routes as registryProviderPlatforms } from './features/registry-provider-platforms/routes.ts'
import { routes as registryProviderReleaseFiles } from './features/registry-provider-release-files/routes.ts'
import { removeAbandonedDrafts } from './features/registry-provider-versions/jobs.ts'
import { lifecycleRoutes as registryProviderLifecycle } from './features/registry-provider-versions/lifecycle-routes.ts'
import { routes as registryProviderVersions } from './features/registry-provider-versions/routes.ts'
import { routes as registryProviders } from './features/registry-providers/routes.ts'
import { routes as registryQuotas } from './features/registry-quotas/routes.ts'
import { routes as remoteStateConsumers } from './features/remote-state-consumers/routes.ts'
import { routes as reservedTagKeys } from './features/reserved-tag-keys/routes.ts'
import { routes as runEvents } from './features/run-events/routes.ts'
import { setOffRuns } from './features/run-triggers/jobs.ts'
import { routes as runTriggers } from './features/run-triggers/routes.ts'
import { actionRoutes as runActions } from './features/runs/action-routes.ts'
import { routes as runs } from './features/runs/routes.ts'
import { sweepSessions } from './features/sessions/jobs.ts'
import { routes as sessions } from './features/sessions/routes.ts'
import { routes as sshKeys } from './features/ssh-keys/routes.ts'
import { routes as stateVersionOutputs } from './features/state-version-outputs/routes.ts'
import { fileRoutes as stateVersionFiles } from './features/state-versions/file-routes.ts'
import { routes as stateVersions } from './features/state-versions/routes.ts'
import { routesOf as tagBindingsOf } from './features/tag-bindings/routes.ts'
import { routes as tags } from './features/tags/routes.ts'
import { routes as teams } from './features/teams/routes.ts'
import { routes as terraformVersions } from './features/terraform-versions/routes.ts'
import { authenticate } from './features/tokens/authentication.ts'
import { ensureBootstrap } from './features/tokens/bootstrap.ts'
import { routes as tokens } from './features/tokens/routes.ts'
import { routes as users } from './features/users/routes.ts'
import { routes as vars } from './features/vars/routes.ts'
import { routes as varsets } from './features/varsets/routes.ts'
import { variableRoutes as varsetVariables } from './features/varsets/variable-routes.ts'
import { routes as workspaceResources } from './features/workspace-resources/routes.ts'
import { lockRoutes as workspaceLocks } from './features/workspaces/lock-routes.ts'
import { routes as workspaces } from './features/workspaces/routes.ts'
import { bindingOwners as workspaceOwners } from './features/workspaces/service.ts'
import { connectSlices } from './hooks.ts'
import { listenForMetrics, mountMetrics } from './http/metrics.ts'
import { collect, describe } from './http/openapi.ts'
import type { App, Routes } from './http/routes.ts'
import { createServer } from './http/server.ts'
import type { Job } from './jobs/job.ts'
import { Worker } from './jobs/worker.ts'
import type { OpenApi } from './lib/openapi.ts'
import { assemble } from './services.ts'
import { startWorkers } from './workers.ts'

/** Every slice, one line each. */
const ROUTES: readonly Routes[] = [
  agentPools,
  agents,
  agentWire,
  agentWireFiles,
  applies,
  auditTrail,
  cliDownloads,
  comments,
  configurationVersions,
  discovery,
  erroredStateRoutes,
  documentationOf(() => describeApi()),
  gpgKeys,
  logs,
  moduleProtocol,
  oauth,
  organizationMemberships,
  organizations,
  plans,
  projects,
  mirroredProviders,
  providerMirror,
  providerMirrorFiles,
  providerMirrorRegistry,
  providerProtocol,
  registryLog,
  registryModules,
  registryModuleVersions,
  registryProviderConsumers,
  registryProviderLifecycle,
  registryProviderDocPages,
  registryProviderDocs,
  registryProviderPlatforms,
  registryProviderVersions,
  registryProviderReleaseFiles,
  registryProviders,
  registryQuotas,
  remoteStateConsumers,
  reservedTagKeys,
  runActions,
  runEvents,
  runs,
  runTriggers,
  sessions,
  sshKeys,
  stateVersionFiles,
  stateVersionOutputs,
  stateVersions,
  tagBindingsOf(projectOwners),
  tagBindingsOf(workspaceOwners),
  tags,
  teams,
  terraformVersions,
  tokens,
  users,
  vars,
  varsets,
  varsetVariables,
  workspaceLocks,
  workspaceResources,
  workspaces,
]

/** The OpenAPI document of everything that the server mounts. */
export async function describeApi(): Promise<OpenApi> {
  return describe(await collect([...ROUTES, (app) => mountMetrics(app, undefined)]))
}

/** Every kind of background work. */
const JOBS: readonly Job[] = [
  moveLogs,
  reapExecutions,
  removeAbandonedDrafts,
  setOffRuns,
  sweepBlobs,
  sweepCodes,
  sweepSessions,
  watchAgents,
]

export interface RunningServer {
  /** The public address. */
  url: string
  /** The file with the first admin's token, unless the operator chose the token. */
  adminTokenFile: string | undefined
  /** Finishes the requests under way, then closes everything. */
  stop: () => Promise<void>
}

/** Connects, migrates, listens, and works; `watch` sees the server before it listens, as tests need it. */
export async function start(
  config: Config,
  secrets: Secrets,
  log: Logger,
  watch?: (app: App) => void,
): Promise<RunningServer> {
  const services = await assemble(config, secrets, log)
  const opened: (() => unknown)[] = [services.connection.close]
  const stop = async () => {
    for (const close of opened.toReversed()) await close()
  }
  try {
    return { ...(await serve(services, secrets, opened, watch)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Pushes to `opened` how to close what it opens, in order. */
async function serve(
  services: Services,
  secrets: Secrets,
  opened: (() => unknown)[],
  watch?: (app: App) => void,
) {
  const { config, metrics } = services
  connectSlices()
  const adminTokenFile = await ensureBootstrap(services, secrets)
  const worker = new Worker(services, JOBS)
  const app = createServer({ services, authenticate, routes: ROUTES })
  mountMetrics(app, secrets.metricsToken)
  watch?.(app)
  if (config.metricsListen) {
    const listener = await listenForMetrics(metrics, config.metricsListen)
    opened.push(() => listener.close())
  }
  await app.listen(config.listen)
  services.baseUrl = config.url ?? listeningUrl(app, config)
  opened.push(
    () => writeDownloads(services),
    () => writeModuleDownloads(services),
    () => worker.stop(),
    () => app.close(),
  )
  await worker.start()
  opened.push(await startWorkers(services))
  return { url: services.baseUrl, adminTokenFile }
}

/** The address to reach a server that was given no public one: the listener's, with its actual port. */
function listeningUrl(app: App, config: Config): string {
  const { port } = app.server.address() as AddressInfo
  const host = ['0.0.0.0', '::'].includes(config.listen.host) ? 'localhost' : config.listen.host
  const name = host.includes(':') ? `[${host}]` : host
  return `${config.tls ? 'https' : 'http'}://${name}:${port}`
}
