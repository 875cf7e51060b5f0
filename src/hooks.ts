import { keepWithoutRow } from './blobs/jobs.ts'
import { chooseForOrganization } from './features/agent-pools/service.ts'
import * as applies from './features/applies/service.ts'
import * as comments from './features/comments/service.ts'
import * as configurationVersions from './features/configuration-versions/service.ts'
import * as executions from './features/executions/service.ts'
import { withdraw as withdrawCodes } from './features/oauth/service.ts'
import { acceptInvitations, addFounder, leaveOwners } from './features/organization-memberships/service.ts'
import * as organizations from './features/organizations/service.ts'
import { onChange as onChangePassword } from './features/passwords/service.ts'
import { createDefault as createDefaultProject } from './features/projects/service.ts'
import { removeFilesOf as removeMirrorFilesOf } from './features/provider-mirror/service.ts'
import { noteEnd as noteEndOfRegistryLog } from './features/registry-log/service.ts'
import { removeAll as removeModuleVersions } from './features/registry-module-versions/service.ts'
import {
  onRemove as onRemoveModule,
  removeFilesOf as removeModuleFilesOf,
} from './features/registry-modules/service.ts'
import { removeAll as removeProviderVersions } from './features/registry-provider-versions/service.ts'
import { onRemove as onRemoveProvider, removeFilesOf } from './features/registry-providers/service.ts'
import * as runEvents from './features/run-events/service.ts'
import * as runTriggers from './features/run-triggers/jobs.ts'
import * as runs from './features/runs/service.ts'
import { endAllOf as endSessions } from './features/sessions/service.ts'
import * as stateVersions from './features/state-versions/service.ts'
import { onAddress, onRemove as onRemoveUser } from './features/users/service.ts'
import { onUnlock } from './features/workspaces/locks.ts'

/** Connects the slices that may not know each other: what one does has consequences in another. */
export function connectSlices(): void {
  organizations.onChooseExecution(chooseForOrganization)
  organizations.onCreate(addFounder)
  organizations.onCreate(createDefaultProject)
  organizations.onRemove(removeFilesOf)
  organizations.onRemove(removeMirrorFilesOf)
  organizations.onRemove(removeModuleFilesOf)
  organizations.onRemove(noteEndOfRegistryLog)
  onAddress(acceptInvitations)
  onChangePassword(endSessions)
  onChangePassword(withdrawCodes)
  onRemoveUser(leaveOwners)
  onRemoveProvider(removeProviderVersions)
  onRemoveModule(removeModuleVersions)

  runs.carryOutBy({ queue: executions.queue, stop: executions.stop })
  runs.onEvent(runs.proceedAfter)
  onUnlock(stateVersions.endLock)
  onUnlock(runs.proceed)
  configurationVersions.onUploaded(runs.beginWith)
  configurationVersions.onErrored(runs.endWith)
  runs.onEvent(runs.settleWith)
  stateVersions.onFinalized((tx, { workspaceId, runId }) => runs.discardSaved(tx, workspaceId, runId))
  keepWithoutRow('errored-states', applies.isErroredStateWanted)

  runs.onEvent(runEvents.noteStatus)
  runs.onEvent(runTriggers.noteApplied)
  runs.onAction(runEvents.noteAction)
  runs.onAction(comments.keepWords)
  comments.onCreate(runEvents.noteComment)
}
