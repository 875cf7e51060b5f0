import { can } from '../../auth/authorize.ts'
import type { Ctx, Services } from '../../context.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as versions from '../registry-provider-versions/service.ts'
import type { ProviderAddress } from '../registry-providers/service.ts'
import * as store from './store.ts'
import { downloads } from './tally.ts'

/** Writes down the downloads that were counted, as a server does that stops. */
export function writeDownloads(services: Services): Promise<void> {
  return downloads.writeAll(services)
}

/** The kinds of consumers by how their ids begin. */
const KINDS = { user: 'user', team: 'team', org: 'organization', ws: 'workspace' } as const

/** Whom a link to an archive is for, as the link says it: the runs of a workspace are one consumer. */
export function requesterOf({ subject }: Pick<Ctx, 'subject'>): string | undefined {
  return subject?.kind === 'run' ? subject.workspaceId : subject?.id
}

/** Counts a download by a link that was made for `requestedBy`. Costs no time. */
export function noteDownload(ctx: Ctx, platformId: string, requestedBy: string | undefined): void {
  ctx.metrics.registryDownloadBegan('provider')
  const prefix = requestedBy?.split('-', 1)[0] as keyof typeof KINDS | undefined
  const subjectKind = prefix && KINDS[prefix]
  downloads.count(ctx, {
    platformId,
    subjectKind: subjectKind ?? 'unknown',
    subjectId: (subjectKind && requestedBy) ?? '',
    count: 1,
    lastAt: ctx.now(),
  })
}

/**
 * Whom it concerns when a version is deprecated or revoked: who downloaded it, and the organization's workspaces whose
 * state uses the provider. For those who may manage the provider; workspaces that the caller may not read are only
 * counted.
 */
export async function list(ctx: Ctx, address: ProviderAddress, number: string, page: PageRequest) {
  const version = await versions.get(ctx, address, number, 'registry-providers:manage')
  const { organizationId, organizationName, name } = version.provider
  const provider = `${organizationName}/${name}`.toLowerCase()
  const consumed = { versionId: version.id, organizationId, provider }
  const workspaces = await can(ctx, 'workspaces:read', organizationId)
  const consumers = await store.list(ctx.db, consumed, { workspaces }, page)
  const platforms = await store.listPlatforms(
    ctx.db,
    version.id,
    consumers.items.map(({ id }) => id),
  )
  const items = consumers.items.map((consumer) => ({
    ...consumer,
    platforms: platforms.filter(({ subjectId }) => subjectId === consumer.id),
  }))
  const hiddenWorkspaces = workspaces ? 0 : await store.countWorkspaces(ctx.db, consumed)
  return { page: { ...consumers, items }, hiddenWorkspaces }
}

export type Consumer = Awaited<ReturnType<typeof list>>['page']['items'][number]
