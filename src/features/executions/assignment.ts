import type { Ctx } from '../../context.ts'
import type { Assignment } from '../../engine/channel.ts'
import { addSeconds } from '../../lib/time.ts'
import * as applies from '../applies/service.ts'
import * as providerMirror from '../provider-mirror/service.ts'
import type { Run } from '../runs/service.ts'
import * as runs from '../runs/service.ts'
import * as sshKeys from '../ssh-keys/service.ts'
import * as terraformVersions from '../terraform-versions/service.ts'
import * as tokens from '../tokens/service.ts'
import * as varsets from '../varsets/service.ts'
import type { Workspace } from '../workspaces/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { Execution } from './store.ts'

/** The CLI shows a plan only if the run has not failed before it has seen the plan's log end. */
const FAILURE_HOLD_SECONDS = 2

/** All that a worker has to know, put together in the transaction in which it gets the execution. */
export async function assignmentOf(tx: Ctx, execution: Execution, run: Run): Promise<Assignment> {
  const workspace = await workspaces.reread(tx, run.workspaceId)
  const variables = await varsets.variablesOfRun(tx, workspace)
  const { planTimeout, applyTimeout } = tx.config.runs
  const token = await tokens.issueForRun(tx, run)
  const mirror = await providerMirror.ofRun(tx, run.organizationId, token)
  return {
    executionId: execution.id,
    phase: execution.phase,
    run: settingsOf(tx, run),
    organization: run.organizationName,
    project: workspace.projectName,
    workspace: partsOf(workspace),
    terraformVersion: run.terraformVersion,
    engineVersions: await terraformVersions.listSpecial(tx),
    terraformVariables: variables.terraform,
    environmentVariables: variables.environment,
    sshKey: await sshKeys.privateKeyOf(tx, workspace),
    serverUrl: tx.baseUrl,
    token: token.secret,
    ...(mirror && { mirror }),
    applyId: run.applyId,
    recoveryUrl: applies.recoveryUrl(tx, run.applyId),
    timeout: execution.phase === 'plan' ? planTimeout : applyTimeout,
    holdFailureUntil: holdOf(execution, run),
  }
}

function settingsOf(tx: Ctx, run: Run): Assignment['run'] {
  return {
    id: run.id,
    isDestroy: run.isDestroy,
    refresh: run.refresh,
    refreshOnly: run.refreshOnly,
    planOnly: run.planOnly,
    allowConfigGeneration: run.allowConfigGeneration,
    debuggingMode: run.debuggingMode,
    structuredOutput: run.structuredOutput,
    targetAddrs: JSON.parse(run.targetAddrs),
    replaceAddrs: JSON.parse(run.replaceAddrs),
    variables: runs.variablesOf(tx, run),
  }
}

function partsOf({ id, name, workingDirectory }: Workspace): Assignment['workspace'] {
  return { id, name, workingDirectory }
}

/** Only for those who watch: a run that was made by a script has nobody who could miss its plan. */
function holdOf({ phase }: Execution, run: Run): string | undefined {
  if (phase === 'plan' || !run.autoApply || !run.source.startsWith('terraform')) return undefined
  const { 'planned-at': plannedAt }: Record<string, string> = JSON.parse(run.statusTimestamps)
  return plannedAt && addSeconds(plannedAt, FAILURE_HOLD_SECONDS)
}
