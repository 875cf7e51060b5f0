import type { Static, TProperties } from 'typebox'
import { About, Search, Values, valuesOf } from '../../http/schema.ts'
import { AppError } from '../../lib/errors.ts'
import { Type } from '../../lib/type.ts'
import type { RunFilter } from './service.ts'
import { isDiscardable, RUN_STATES, type RunStatus, statesThat } from './status.ts'

const Filter = (description: string) => Type.Optional(About(description, Values))

/** What lists of runs can be limited to. */
export const LIST_OF_WORKSPACE = {
  'filter[status]': Filter('Only runs in these states.'),
  'filter[source]': Filter('Only runs that came from these, such as `tfe-api`.'),
  'filter[operation]': Filter(
    'Only runs for these: `plan_only`, `plan_and_apply`, `save_plan`, `refresh_only`, `destroy`, `empty_apply`.',
  ),
  'filter[timeframe]': Search('`year` for the last year, or a year such as `2026`.'),
  'search[user]': Search('Only runs that the user of this name made.'),
  'search[commit]': Search('Only runs of this commit; no run has one here.'),
  'search[basic]': Search('Only runs with this text in their message, this id, or made by this user.'),
} satisfies TProperties

export const LIST_OF_ORGANIZATION = {
  ...LIST_OF_WORKSPACE,
  'filter[status_group]': Search('`final`, `non_final` or `discardable`.'),
  'filter[workspace_names]': Filter('Only runs of the workspaces of these names.'),
  'filter[agent_pool_names]': Filter('Only runs for the agent pools of these names.'),
} satisfies TProperties

const Query = Type.Object(LIST_OF_ORGANIZATION)

/** What a query asks for; `now` is what the last year ends with. */
export function toFilter(query: Partial<Static<typeof Query>>, now: string): RunFilter {
  return {
    statuses: query['search[commit]'] ? [] : statusesOf(query),
    sources: valuesOf(query['filter[source]']),
    operations: valuesOf(query['filter[operation]']),
    workspaceNames: valuesOf(query['filter[workspace_names]']),
    agentPoolNames: valuesOf(query['filter[agent_pool_names]']),
    ...timeframeOf(query['filter[timeframe]'], now),
    user: query['search[user]'],
    text: query['search[basic]'],
  }
}

function statusesOf(query: Partial<Static<typeof Query>>): string[] | undefined {
  const statuses = valuesOf(query['filter[status]'])
  const group = query['filter[status_group]']
  if (!group) return statuses
  const ofGroup: readonly string[] = groupOf(group)
  return statuses ? statuses.filter((status) => ofGroup.includes(status)) : [...ofGroup]
}

function groupOf(name: string): RunStatus[] {
  if (name === 'final') return statesThat(true)
  if (name === 'non_final') return statesThat(false)
  if (name === 'discardable') {
    return (Object.keys(RUN_STATES) as RunStatus[]).filter((status) => isDiscardable(status))
  }
  throw new AppError('badRequest', 'filter[status_group] must be final, non_final or discardable', {
    parameter: 'filter[status_group]',
  })
}

function timeframeOf(timeframe: string | undefined, now: string) {
  if (!timeframe) return {}
  if (timeframe === 'year') {
    const from = new Date(now)
    from.setUTCFullYear(from.getUTCFullYear() - 1)
    return { createdFrom: from.toISOString() }
  }
  if (!/^\d{4}$/.test(timeframe)) {
    throw new AppError('badRequest', 'filter[timeframe] must be year, or a year such as 2026', {
      parameter: 'filter[timeframe]',
    })
  }
  return { createdFrom: `${timeframe}-01-01`, createdBefore: `${Number(timeframe) + 1}-01-01` }
}
