import { accessTo } from '../../auth/authorize.ts'
import { permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { withOffsets } from '../plans/resource.ts'
import { toActor } from '../users/resource.ts'
import { actionsOf, forceCancelAvailableAt } from './actions.ts'
import { TYPE } from './schema.ts'
import type { Run } from './service.ts'
import * as service from './service.ts'

/** The run as clients see it; `position` in the queue of its organization where that is asked for. */
export async function toResource(ctx: Ctx, run: Run, position = 0): Promise<Resource> {
  return {
    id: run.id,
    type: TYPE,
    attributes: {
      ...settingsOf(run),
      status: run.status,
      'status-timestamps': withOffsets(JSON.parse(run.statusTimestamps)),
      actions: shownActions(ctx, run),
      permissions: await permissionsOf(ctx, run),
      'canceled-at': run.canceledAt,
      'created-at': run.createdAt,
      'force-cancel-available-at': forceCancelAvailableAt(run),
      'has-changes': run.hasChanges,
      'position-in-queue': position,
      variables: service.variablesOf(ctx, run),
    },
    relationships: relationshipsOf(run),
    links: { self: `/api/v2/runs/${run.id}` },
  }
}

function settingsOf(run: Run) {
  return {
    'is-destroy': run.isDestroy,
    refresh: run.refresh,
    'refresh-only': run.refreshOnly,
    'plan-only': run.planOnly,
    'save-plan': run.savePlan,
    'auto-apply': run.autoApply,
    'allow-empty-apply': run.allowEmptyApply,
    'allow-config-generation': run.allowConfigGeneration,
    'debugging-mode': run.debuggingMode,
    message: run.message,
    source: run.source,
    'trigger-reason': run.triggerReason,
    'terraform-version': run.terraformVersion,
    'target-addrs': JSON.parse(run.targetAddrs),
    'replace-addrs': JSON.parse(run.replaceAddrs),
  }
}

function shownActions(ctx: Ctx, run: Run) {
  const actions = actionsOf(run, ctx.now())
  return {
    'is-cancelable': actions.isCancelable,
    'is-confirmable': actions.isConfirmable,
    'is-discardable': actions.isDiscardable,
    'is-force-cancelable': actions.isForceCancelable,
  }
}

async function permissionsOf(ctx: Ctx, run: Run) {
  const access = await accessTo(ctx, run.organizationId)
  return {
    'can-apply': permits(access, 'runs:apply'),
    'can-cancel': permits(access, 'runs:queue'),
    'can-comment': permits(access, 'runs:queue'),
    'can-discard': permits(access, 'runs:apply'),
    'can-force-execute': permits(access, 'runs:force'),
    'can-force-cancel': permits(access, 'runs:force'),
    'can-override-policy-check': false,
  }
}

function relationshipsOf(run: Run) {
  const { id, createdByTeamId, createdByUserId } = run
  const self = `/api/v2/runs/${id}`
  return {
    workspace: toOne('workspaces', run.workspaceId),
    'configuration-version': {
      ...toOne('configuration-versions', run.configurationVersionId),
      links: { related: `/api/v2/configuration-versions/${run.configurationVersionId}` },
    },
    plan: { ...toOne('plans', run.planId), links: { related: `/api/v2/plans/${run.planId}` } },
    apply: { ...toOne('applies', run.applyId), links: { related: `/api/v2/applies/${run.applyId}` } },
    'created-by': toActor(createdByUserId, createdByTeamId),
    'confirmed-by': toOne('users', run.confirmedByUserId),
    'cost-estimate': toOne('cost-estimates', null),
    'run-events': { ...toMany('run-events', []), links: { related: `${self}/run-events` } },
    comments: { ...toMany('comments', []), links: { related: `${self}/comments` } },
    'policy-checks': toMany('policy-checks', []),
    'task-stages': toMany('task-stages', []),
  }
}
