import type { Ctx } from '../../context.ts'
import type { ConfigurationVersion } from '../configuration-versions/service.ts'
import * as configurationVersions from '../configuration-versions/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { advance } from './advance.ts'
import { createSystem } from './creation.ts'
import { proceed } from './queue.ts'
import type { RunEvent } from './status.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** What an uploaded configuration begins: a run, if it asks for one, and those that have waited for it. */
export async function beginWith(tx: Ctx, configuration: ConfigurationVersion): Promise<void> {
  const { id, workspaceId, autoQueueRuns, createdByUserId, createdByTeamId } = configuration
  const workspace = await workspaces.reread(tx, workspaceId)
  const mode = workspace.executionMode ?? workspace.inheritedExecutionMode
  if (!autoQueueRuns || mode === 'local') return proceed(tx, workspaceId)
  const origin = {
    source: 'tfe-configuration-version',
    triggerReason: 'manual',
    rendersOutput: false,
    message: 'Queued by the upload of a configuration',
  }
  const maker = { userId: createdByUserId, teamId: createdByTeamId }
  await createSystem(tx, { workspaceId, configurationVersionId: id }, origin, maker)
}

/** Ends the runs that have waited for a configuration which cannot be used. */
export async function endWith(tx: Ctx, { id, workspaceId }: ConfigurationVersion): Promise<void> {
  const lastWords = '\nError: The configuration that was uploaded cannot be used.\n'
  for (const run of await store.listUnfinished(tx.db, workspaceId)) {
    if (run.configurationVersionId === id && run.status === 'pending')
      await advance(tx, run, 'failPending', { lastWords })
  }
}

/** What was applied is the workspace's configuration from then on, also if it was provisional before. */
export async function settleWith(tx: Ctx, { configurationVersionId }: Run, event: RunEvent): Promise<void> {
  if (event === 'finishApply') await configurationVersions.settle(tx, configurationVersionId)
}
