import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { DOWNLOAD_SECONDS, UPLOAD_SECONDS } from '../../lib/links.ts'
import type { StateSummary } from '../../lib/state-file.ts'
import { TYPE } from './schema.ts'
import type { StateVersion } from './service.ts'

/** What signed links to raw states, and to states in the form for programs, are for. */
export const RAW = 'state-versions'
export const JSON_STATE = 'json-state-versions'

export function toResource(ctx: Ctx, version: StateVersion): Resource {
  const { id, createdByTeamId, createdByUserId } = version
  const resources: StateSummary[] | null = version.summary === null ? null : JSON.parse(version.summary)
  return {
    id,
    type: TYPE,
    attributes: {
      'created-at': version.createdAt,
      serial: version.serial,
      size: version.size,
      status: version.status,
      intermediate: version.intermediate,
      'state-version': version.stateVersion,
      'terraform-version': version.terraformVersion,
      'resources-processed': version.resourcesProcessed,
      modules: resources && countBy(resources, ({ module }) => module),
      providers: resources && countBy(resources, ({ provider }) => provider),
      resources,
      'hosted-state-download-url': version.blobKey ? download(ctx, RAW, id, 'tfstate') : null,
      'hosted-json-state-download-url': version.jsonBlobKey ? download(ctx, JSON_STATE, id, 'json') : null,
      ...uploadsOf(ctx, version, version.status === 'pending'),
      'vcs-commit-sha': null,
      'vcs-commit-url': null,
      'billable-rum-count': resources && sumOf(resources.filter(({ type }) => !type.startsWith('data.'))),
    },
    relationships: {
      workspace: toOne('workspaces', version.workspaceId),
      run: toOne('runs', version.runId),
      'created-by': createdByTeamId ? toOne('teams', createdByTeamId) : toOne('users', createdByUserId),
      outputs: toMany('state-version-outputs', version.outputIds),
      'rollback-state-version': toOne(TYPE, version.rollbackOfId),
    },
    links: { self: `/api/v2/state-versions/${id}` },
  }
}

/** The same for who has just made it: with the links to send its files to, which clients expect whatever its status. */
export function toNewResource(ctx: Ctx, version: StateVersion): Resource {
  const resource = toResource(ctx, version)
  return { ...resource, attributes: { ...resource.attributes, ...uploadsOf(ctx, version, true) } }
}

/** Links are made for the token of the request, and end with it. */
function uploadsOf(ctx: Ctx, { id, createdByTeamId, createdByUserId }: StateVersion, expected: boolean) {
  const { subject, links, now } = ctx
  const isMaker = subject?.id === createdByUserId || subject?.id === createdByTeamId
  const tokenId = subject && 'tokenId' in subject ? subject.tokenId : undefined
  const upload = (kind: string) =>
    expected && isMaker ? links.sign({ method: 'PUT', kind, id, tokenId }, now(), UPLOAD_SECONDS) : null
  return { 'hosted-state-upload-url': upload(RAW), 'hosted-json-state-upload-url': upload(JSON_STATE) }
}

function download({ links, now }: Ctx, kind: string, id: string, extension: string): string {
  return links.sign({ method: 'GET', kind, id }, now(), DOWNLOAD_SECONDS, `${id}.${extension}`)
}

/** Objects of each type, by what `groupOf` says; types are spelled as attributes are. */
function countBy(resources: readonly StateSummary[], groupOf: (resource: StateSummary) => string) {
  const groups = Map.groupBy(resources, groupOf)
  return Object.fromEntries(
    [...groups].map(([group, members]) => [
      group,
      Object.fromEntries(
        [...Map.groupBy(members, ({ type }) => type.replaceAll('_', '-'))].map(([type, same]) => [
          type,
          sumOf(same),
        ]),
      ),
    ]),
  )
}

function sumOf(resources: readonly StateSummary[]): number {
  return resources.reduce((sum, { count }) => sum + count, 0)
}
