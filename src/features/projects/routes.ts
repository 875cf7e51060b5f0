import { type Static, Type } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { type Permission, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Nullable, OneOf, Text, Values, valuesOf } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import {
  sideload,
  TagBindings,
  toRelationships as toBindingRelationships,
  toBindings,
  toTagFilters,
} from '../tag-bindings/resource.ts'
import type { EffectiveTagBinding } from '../tag-bindings/service.ts'
import type { Project } from './service.ts'
import * as service from './service.ts'

const TYPE = 'projects'

const Attributes = Type.Object({
  name: Text({
    pattern: '^[A-Za-z0-9_-][A-Za-z0-9 _-]{1,38}[A-Za-z0-9_-]$',
    predicate: 'may only contain 3 to 40 letters, digits, inner spaces, hyphens and underscores',
  }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 256 }))),
  'auto-destroy-activity-duration': Type.Optional(
    Nullable(
      Text({
        pattern: '^\\d{1,4}[dh]$',
        predicate: "has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      }),
    ),
  ),
  'default-execution-mode': Type.Optional(OneOf('remote', 'local')),
  'setting-overwrites': Type.Optional(
    Type.Object({ 'default-execution-mode': Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
  ),
})

const Relationships = Type.Object({ 'tag-bindings': Type.Optional(TagBindings) })

const Query = Type.Object({
  'filter[names]': Type.Optional(Values),
  include: Type.Optional(Type.String()),
  q: Type.Optional(Type.String({ maxLength: 255 })),
  sort: Type.Optional(Type.String()),
})

const INCLUDES = ['effective-tag-bindings', 'organization']

/** The permissions that clients ask for, and which of ours answers. */
const SHOWN_PERMISSIONS: Record<string, Permission> = {
  'can-read': 'projects:read',
  'can-update': 'projects:manage',
  'can-destroy': 'projects:manage',
  'can-create-workspace': 'workspaces:manage',
  'can-move-workspace': 'workspaces:manage',
  'can-manage-tags': 'projects:manage',
  'can-read-teams': 'teams:read',
  'can-manage-teams': 'projects:manage',
}

async function toResource(
  ctx: Ctx,
  project: Project,
  bindings?: readonly EffectiveTagBinding[],
): Promise<Resource> {
  const access = await accessTo(ctx, project.organizationId)
  const overwrites = project.defaultExecutionMode !== null
  return {
    id: project.id,
    type: TYPE,
    attributes: {
      name: project.name,
      description: project.description,
      'created-at': project.createdAt,
      'workspace-count': project.workspaceCount,
      'team-count': 0,
      'is-unified': false,
      'auto-destroy-activity-duration': project.autoDestroyActivityDuration,
      'default-execution-mode': service.executionModeOf(project),
      'setting-overwrites': { 'default-execution-mode': overwrites, 'default-agent-pool': overwrites },
      permissions: Object.fromEntries(
        Object.entries(SHOWN_PERMISSIONS).map(([name, permission]) => [name, permits(access, permission)]),
      ),
    },
    relationships: {
      organization: {
        ...toOne('organizations', project.organizationName),
        links: { related: `/api/v2/organizations/${project.organizationName}` },
      },
      'default-agent-pool': toOne('agent-pools', null),
      ...toBindingRelationships(TYPE, project.id, bindings),
    },
    links: { self: `/api/v2/projects/${project.id}` },
  }
}

/** The resources of a document about `projects`, and what `wanted` includes. */
async function present(ctx: Ctx, projects: readonly Project[], wanted: string | undefined) {
  const { bindings, included } = await sideload(ctx, wanted, projects.map(service.ownerOf))
  const resources = await Promise.all(projects.map((each) => toResource(ctx, each, bindings.get(each.id))))
  const others = await include(ctx, wanted, INCLUDES, resources)
  return { resources, included: others && [...others, ...included] }
}

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

function toChanges({ attributes, relationships }: Input) {
  const { settingOverwrites, ...same } = camelKeys(attributes)
  const bindings = relationships['tag-bindings']
  return {
    ...same,
    overwritesExecutionMode: settingOverwrites?.['default-execution-mode'],
    tagBindings: bindings && toBindings(bindings),
  }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/projects'
  const member = '/api/v2/projects/:id'

  includable(TYPE, async (ctx, ids) => {
    const projects = await service.listVisible(ctx, ids)
    return Promise.all(projects.map((each) => toResource(ctx, each)))
  })

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, path, query, page, href }) => {
    const filter = {
      names: valuesOf(query['filter[names]']),
      q: query.q,
      tagged: toTagFilters(query),
      descending: query.sort === '-name',
    }
    const found = await service.list(ctx, path.organization_name, filter, page)
    const { resources, included } = await present(ctx, found.items, query.include)
    return many({ ...found, items: resources }, href, (resource) => resource, included)
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: {
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'projects:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { name } = body.data.attributes
      const created = await service.create(ctx, path.organization_name, { ...toChanges(body.data), name })
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { schema: { querystring: Query } }, async ({ ctx, path, query }) => {
    const { resources, included } = await present(ctx, [await service.get(ctx, path.id)], query.include)
    return one(resources[0] as Resource, included)
  })

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes), Relationships) },
      config: { access: (ctx, path) => service.get(ctx, path.id, 'projects:manage') },
    },
    async ({ ctx, path, body }) => {
      return one(await toResource(ctx, await service.update(ctx, path.id, toChanges(body.data))))
    },
  )

  app.delete(member, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
