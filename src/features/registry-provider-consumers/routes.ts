import { many, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable, OneOf } from '../../http/schema.ts'
import { answerPage, Exactly, Moment, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { doc } from '../registry-provider-versions/resource.ts'
import { addressOf } from '../registry-providers/service.ts'
import type { Consumer as Found } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-provider-consumers'

/** The resources that consumers are. */
const TYPES = {
  user: 'users',
  team: 'teams',
  organization: 'organizations',
  workspace: 'workspaces',
} as const

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const Consumer = Shown('RegistryProviderConsumer', TYPE, {
  id: 'ws-qPhan8kDLymzv2uS',
  attributes: {
    kind: OneOf('user', 'team', 'organization', 'workspace', 'unknown'),
    name: Nullable(Type.String({ description: 'Null for what is there no more.', examples: ['network'] })),
    downloads: Count('Of the version’s archives. Those of runs are their workspace’s.'),
    'last-downloaded-at': Nullable(Moment('When the last of them began.')),
    resources: Count('In the current state of the workspace, of this provider in whichever version.'),
    platforms: Type.Array(
      Exactly({
        os: Type.String({ examples: ['linux'] }),
        arch: Type.String({ examples: ['amd64'] }),
        downloads: Count('Of the archive.'),
        'last-downloaded-at': Moment('When the last of them began.'),
      }),
    ),
  },
  relationships: { consumer: RelatedOrNone(...Object.values(TYPES)) },
})

const docs = {
  list: doc(
    'listProviderConsumers',
    'List whom a version concerns',
    {
      200: answerPage(Consumer, undefined, {
        'hidden-workspaces': Count(
          'Workspaces that are none of the list, because the caller may not see them.',
        ),
      }),
    },
    {
      description:
        'Who downloaded the version, and the workspaces whose current state uses the provider: those who are to know when it is deprecated or revoked.',
    },
  ),
}

function toResource({ id, kind, name, downloads, lastAt, resources, platforms }: Found): Resource {
  return {
    id: id || kind,
    type: TYPE,
    attributes: {
      kind,
      name,
      downloads,
      'last-downloaded-at': lastAt,
      resources,
      platforms: platforms.map(({ os, arch, count, lastAt }) => ({
        os,
        arch,
        downloads: count,
        'last-downloaded-at': lastAt,
      })),
    },
    relationships: { consumer: name === null ? { data: null } : toOne(typeOf(kind), idOf(kind, id, name)) },
  }
}

const typeOf = (kind: string) => TYPES[kind as keyof typeof TYPES]

/** The API knows an organization by its name. */
const idOf = (kind: string, id: string, name: string) => (kind === 'organization' ? name : id)

export const routes: Routes = (app) => {
  app.get(
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions/:version/consumers',
    { config: { doc: docs.list } },
    async ({ ctx, path, page, href }) => {
      const found = await service.list(ctx, addressOf(path), path.version, page)
      const { meta, ...document } = await many(found.page, href, toResource)
      return { ...document, meta: { ...meta, 'hidden-workspaces': found.hiddenWorkspaces } }
    },
  )
}
