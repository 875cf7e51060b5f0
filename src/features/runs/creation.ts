import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as agentPools from '../agent-pools/service.ts'
import * as applies from '../applies/service.ts'
import * as audit from '../audit-trail/service.ts'
import * as configurationVersions from '../configuration-versions/service.ts'
import * as plans from '../plans/service.ts'
import type { Workspace } from '../workspaces/service.ts'
import * as workspaces from '../workspaces/service.ts'
import * as queue from './queue.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** What a request says about a new run. */
export interface NewRun {
  workspaceId: string
  /** The latest of the workspace, unless it is named. */
  configurationVersionId?: string | undefined
  message?: string | null | undefined
  isDestroy?: boolean | undefined
  refresh?: boolean | undefined
  refreshOnly?: boolean | undefined
  planOnly?: boolean | undefined
  savePlan?: boolean | undefined
  /** The workspace's setting, unless it is said. */
  autoApply?: boolean | undefined
  allowEmptyApply?: boolean | undefined
  allowConfigGeneration?: boolean | undefined
  debuggingMode?: boolean | undefined
  terraformVersion?: string | null | undefined
  targetAddrs?: readonly string[] | null | undefined
  replaceAddrs?: readonly string[] | null | undefined
  variables?: readonly { key: string; value: string }[] | null | undefined
}

/** How a run came to be, which no request says of itself. */
export interface Origin {
  /** What made it, such as `tfe-api`. */
  source: string
  triggerReason: string
  /** Whether whoever made it renders JSON lines. */
  rendersOutput: boolean
  /** The message of a run that has none. */
  message: string
}

/** Makes a run, and starts it if nothing is before it. */
export function create(ctx: Ctx, wanted: NewRun, origin: Origin): Promise<Run> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await workspaces.get(tx, { id: wanted.workspaceId }, 'runs:queue')
    const { kind, id } = authorizeAnyone(tx)
    const maker = { userId: kind === 'user' ? id : null, teamId: kind === 'team' ? id : null }
    return insert(tx, workspace, wanted, origin, maker)
  })
}

/** Makes a run on behalf of the server, for what `maker` did elsewhere; the caller has authorized that. */
export async function createSystem(
  tx: Ctx,
  wanted: NewRun,
  origin: Origin,
  maker: Maker = { userId: null, teamId: null },
): Promise<Run> {
  const workspace = await workspaces.reread(tx, wanted.workspaceId)
  return insert(tx, workspace, wanted, origin, maker)
}

interface Maker {
  userId: string | null
  teamId: string | null
}

async function insert(
  tx: Ctx,
  workspace: Workspace,
  wanted: NewRun,
  origin: Origin,
  maker: Maker,
): Promise<Run> {
  await workspaces.hold(tx, workspace.id)
  const configuration = await findConfiguration(tx, workspace, wanted)
  const mode = workspace.executionMode ?? workspace.inheritedExecutionMode
  const pool = mode === 'agent' ? await agentPools.ofWorkspace(tx, workspace) : undefined
  refuse([...violationsOf(workspace, wanted, configuration), ...violationsOfMode(mode, pool)])
  const id = newId('run')
  const now = tx.now()
  await store.insert(tx.db, {
    ...columnsOf(tx, workspace, wanted, origin),
    id,
    organizationId: workspace.organizationId,
    workspaceId: workspace.id,
    configurationVersionId: configuration?.id as string,
    status: 'pending',
    statusTimestamps: JSON.stringify({ 'plan-queueable-at': now }),
    executionMode: mode === 'agent' ? 'agent' : 'remote',
    agentPoolId: pool?.id ?? null,
    planOnly: wanted.planOnly === true || configuration?.speculative === true,
    createdByUserId: maker.userId,
    createdByTeamId: maker.teamId,
    createdAt: now,
  })
  await plans.create(tx, id, mode)
  await applies.create(tx, id, mode)
  await audit.record(tx, {
    action: 'create',
    organizationId: workspace.organizationId,
    resourceType: 'run',
    resourceId: id,
    meta: { workspace: workspace.name },
  })
  await queue.proceed(tx, workspace.id)
  const run = await store.find(tx.db, id)
  if (!run) throw notFound()
  return run
}

function columnsOf(tx: Ctx, workspace: Workspace, wanted: NewRun, origin: Origin) {
  const { isDestroy = false, refreshOnly = false, savePlan = false } = wanted
  return {
    source: origin.source,
    triggerReason: origin.triggerReason,
    message: wanted.message || origin.message,
    terraformVersion: wanted.terraformVersion ?? workspace.terraformVersion,
    isDestroy,
    refresh: wanted.refresh ?? true,
    refreshOnly,
    savePlan,
    autoApply: wanted.autoApply ?? (savePlan ? false : workspace.autoApply),
    allowEmptyApply: wanted.allowEmptyApply ?? false,
    allowConfigGeneration: wanted.allowConfigGeneration ?? false,
    debuggingMode: wanted.debuggingMode ?? false,
    structuredOutput: workspace.structuredRunOutputEnabled && origin.rendersOutput,
    targetAddrs: JSON.stringify(wanted.targetAddrs ?? []),
    replaceAddrs: JSON.stringify(wanted.replaceAddrs ?? []),
    variables: tx.vault.seal(JSON.stringify(wanted.variables ?? [])),
    hasChanges: false,
    canceledAt: null,
    confirmedByUserId: null,
  }
}

type Configuration = Awaited<ReturnType<typeof configurationVersions.latestUploaded>>

async function findConfiguration(tx: Ctx, workspace: Workspace, wanted: NewRun): Promise<Configuration> {
  if (wanted.configurationVersionId === undefined)
    return configurationVersions.latestUploaded(tx, workspace.id)
  const found = await configurationVersions.find(tx, wanted.configurationVersionId)
  return found?.workspaceId === workspace.id ? found : undefined
}

const AT = '/data/attributes'

function violationsOf(workspace: Workspace, wanted: NewRun, configuration: Configuration): Violation[] {
  const violations: Violation[] = []
  const add = (condition: boolean | undefined, detail: string, pointer: string) => {
    if (condition) violations.push({ detail, pointer })
  }
  const pointer = '/data/relationships/configuration-version/data/id'
  if (!configuration) {
    const named = wanted.configurationVersionId !== undefined
    const detail = named
      ? 'Configuration version does not exist in this workspace'
      : 'Configuration version is missing: upload a configuration to the workspace first'
    add(true, detail, pointer)
  } else {
    const useless = configuration.status === 'errored' || configuration.status === 'archived'
    add(useless, `Configuration version is ${configuration.status} and cannot be used any more`, pointer)
  }
  const { isDestroy, refreshOnly, refresh, replaceAddrs, savePlan, planOnly, terraformVersion } = wanted
  add(
    isDestroy && !workspace.allowDestroyPlan,
    'Destroy plans are not allowed in this workspace',
    `${AT}/is-destroy`,
  )
  add(isDestroy && refreshOnly, 'Refresh only cannot be set together with is destroy', `${AT}/refresh-only`)
  add(refreshOnly && refresh === false, 'Refresh cannot be false when refresh only is set', `${AT}/refresh`)
  const replaces = (replaceAddrs?.length ?? 0) > 0
  add(
    replaces && (isDestroy || refreshOnly),
    'Replace addrs cannot be set for this kind of run',
    `${AT}/replace-addrs`,
  )
  add(savePlan && planOnly, 'Save plan cannot be set together with plan only', `${AT}/save-plan`)
  add(
    Boolean(terraformVersion) && !planOnly,
    'Terraform version can be set for plan-only runs only',
    `${AT}/terraform-version`,
  )
  return violations
}

function violationsOfMode(mode: string, pool: { id: string } | undefined): Violation[] {
  const pointer = '/data/relationships/workspace/data/id'
  if (mode === 'local') {
    return [{ detail: 'Workspace has the execution mode local: its runs take place elsewhere', pointer }]
  }
  if (mode === 'agent' && !pool) {
    return [{ detail: 'Workspace has the execution mode agent, but no agent pool', pointer }]
  }
  return []
}
