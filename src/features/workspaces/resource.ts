import type { Static } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { type Access, type Permission, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { answerOne, answerPage } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { effectiveExecutionOf } from '../agent-pools/service.ts'
import { toRelationships as toBindingRelationships, toBindings } from '../tag-bindings/resource.ts'
import type { EffectiveTagBinding } from '../tag-bindings/service.ts'
import { toNamedTags } from '../tags/resource.ts'
import { type Attributes, type Relationships, ShownWorkspace, TYPE } from './schema.ts'
import type { Workspace, WorkspaceAttributes } from './service.ts'

/** How other slices answer with a workspace. */
export const answerWorkspace = answerOne(ShownWorkspace)
export const answerWorkspaces = answerPage(ShownWorkspace)

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

/** What a request's resource object says about a workspace. */
export function toAttributes({ attributes, relationships }: Input): WorkspaceAttributes {
  const { project, 'agent-pool': pool, 'tag-bindings': bindings, tags } = relationships
  const { settingOverwrites, vcsRepo: _, ...settings } = camelKeys(attributes)
  const overwritesExecutionMode = settingOverwrites?.['execution-mode'] ?? settingOverwrites?.['agent-pool']
  return {
    settings: {
      ...(pool && { agentPoolId: pool.data?.id ?? null }),
      ...settings,
      overwritesExecutionMode,
    },
    projectId: project?.data.id,
    tagBindings: bindings && toBindings(bindings),
    tags: tags && toNamedTags(tags),
  }
}

/** The permissions that clients ask for, and which of ours answers. */
const SHOWN_PERMISSIONS: Record<string, Permission> = {
  'can-update': 'workspaces:manage',
  'can-destroy': 'workspaces:manage',
  'can-queue-run': 'workspaces:lock',
  'can-queue-apply': 'workspaces:lock',
  'can-queue-destroy': 'workspaces:lock',
  'can-read-run': 'workspaces:read',
  'can-read-variable': 'variables:read',
  'can-update-variable': 'variables:manage',
  'can-read-state-versions': 'state-versions:read',
  'can-read-state-outputs': 'state-versions:read-outputs',
  'can-create-state-versions': 'state-versions:create',
  'can-lock': 'workspaces:lock',
  'can-unlock': 'workspaces:lock',
  'can-force-unlock': 'workspaces:manage',
  'can-read-settings': 'workspaces:read',
  'can-manage-tags': 'workspaces:manage',
  'can-manage-run-tasks': 'workspaces:manage',
  'can-manage-assessments': 'workspaces:manage',
  'can-manage-ephemeral-workspaces': 'workspaces:manage',
  'can-read-assessment-results': 'workspaces:read',
}

function permissionsOf(access: Access, { allowForceDelete }: Workspace): Record<string, boolean> {
  const shown = Object.entries(SHOWN_PERMISSIONS).map(([name, permission]) => [
    name,
    permits(access, permission),
  ])
  const forceDelete = permits(access, 'workspaces:manage') && (allowForceDelete || access.owner)
  return { ...Object.fromEntries(shown), 'can-force-delete': forceDelete, 'can-manage-hyok': false }
}

/** The workspace as clients see it; `effective` bindings only when they are to be included. */
export async function toResource(
  ctx: Ctx,
  workspace: Workspace,
  effective?: readonly EffectiveTagBinding[],
): Promise<Resource> {
  const access = await accessTo(ctx, workspace.organizationId)
  return {
    id: workspace.id,
    type: TYPE,
    attributes: {
      ...settingsOf(workspace),
      ...NOT_YET_MEASURED,
      name: workspace.name,
      locked: workspace.locked,
      'locked-reason': workspace.lockedReason,
      'tag-names': workspace.tagNames,
      'resource-count': workspace.resourceCount,
      'created-at': workspace.createdAt,
      'updated-at': workspace.updatedAt,
      'latest-change-at': workspace.updatedAt,
      actions: { 'is-destroyable': true },
      'can-queue-destroy-plan': workspace.allowDestroyPlan && permits(access, 'workspaces:lock'),
      permissions: permissionsOf(access, workspace),
    },
    relationships: relationshipsOf(workspace, effective),
    links: {
      self: `/api/v2/organizations/${workspace.organizationName}/workspaces/${workspace.name}`,
      'self-html': `/app/${workspace.organizationName}/workspaces/${workspace.name}`,
    },
  }
}

function settingsOf(workspace: Workspace) {
  const overwrites = workspace.executionMode !== null
  const { mode: executionMode, poolId } = effectiveExecutionOf(workspace)
  const { inheritsProjectAutoDestroy: inherits } = workspace
  return {
    description: workspace.description,
    'execution-mode': executionMode,
    'agent-pool-id': poolId,
    operations: executionMode !== 'local',
    'setting-overwrites': { 'execution-mode': overwrites, 'agent-pool': overwrites },
    'terraform-version': workspace.terraformVersion,
    'working-directory': workspace.workingDirectory,
    'auto-apply': workspace.autoApply,
    'auto-apply-run-trigger': workspace.autoApplyRunTrigger,
    'allow-destroy-plan': workspace.allowDestroyPlan,
    'assessments-enabled': workspace.assessmentsEnabled,
    'file-triggers-enabled': workspace.fileTriggersEnabled,
    'global-remote-state': workspace.globalRemoteState,
    'project-remote-state': workspace.projectRemoteState,
    'queue-all-runs': workspace.queueAllRuns,
    'speculative-enabled': workspace.speculativeEnabled,
    'structured-run-output-enabled': workspace.structuredRunOutputEnabled,
    'trigger-prefixes': JSON.parse(workspace.triggerPrefixes),
    'trigger-patterns': JSON.parse(workspace.triggerPatterns),
    'source-name': workspace.sourceName,
    'source-url': workspace.sourceUrl,
    'auto-destroy-at': workspace.autoDestroyAt,
    'auto-destroy-activity-duration': inherits
      ? workspace.projectAutoDestroyActivityDuration
      : workspace.autoDestroyActivityDuration,
    'inherits-project-auto-destroy': inherits,
  }
}

/** What the public API tells of parts that no workspace has here: connections, assessments, runs, state. */
const NOT_YET_MEASURED = {
  environment: 'default',
  'migration-environment': null,
  source: 'tfe-api',
  'source-module-id': null,
  'no-code-upgrade-available': false,
  'vcs-repo': null,
  'vcs-repo-identifier': null,
  'auto-destroy-status': null,
  'last-assessment-result-at': null,
  'apply-duration-average': null,
  'plan-duration-average': null,
  'policy-check-failures': null,
  'run-failures': null,
  'workspace-kpis-runs-count': null,
} as const

function relationshipsOf(workspace: Workspace, effective: readonly EffectiveTagBinding[] | undefined) {
  const { id, organizationName, lockedByTeamId, lockedByUserId, lockedByRunId } = workspace
  return {
    organization: toOne('organizations', organizationName),
    project: {
      ...toOne('projects', workspace.projectId),
      links: { related: `/api/v2/projects/${workspace.projectId}` },
    },
    'locked-by': lockedByRunId
      ? toOne('runs', lockedByRunId)
      : lockedByTeamId
        ? toOne('teams', lockedByTeamId)
        : toOne('users', lockedByUserId),
    'agent-pool': toOne('agent-pools', effectiveExecutionOf(workspace).poolId),
    'ssh-key': toOne('ssh-keys', workspace.sshKeyId),
    'current-run': toOne('runs', workspace.currentRunId),
    'latest-run': toOne('runs', workspace.latestRunId),
    'current-state-version': toOne('state-versions', workspace.currentStateVersionId),
    'current-configuration-version': toOne('configuration-versions', workspace.currentConfigurationVersionId),
    'current-assessment-result': toOne('assessment-results', null),
    readme: toOne('workspace-readme', null),
    outputs: toMany('workspace-outputs', workspace.outputIds),
    vars: toMany('vars', workspace.varIds),
    ...toBindingRelationships(TYPE, id, effective),
  }
}
