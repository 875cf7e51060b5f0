import type { Static } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { type Permission, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { About, Nullable, OneOf, Text, ToOneOrNone } from '../../http/schema.ts'
import { Links, Moment, Permissions, Related, RelatedOrNone, Shown } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import {
  ShownRelationships,
  TagBindings,
  toRelationships as toBindingRelationships,
  toBindings,
} from '../tag-bindings/resource.ts'
import type { EffectiveTagBinding } from '../tag-bindings/service.ts'
import type { Project } from './service.ts'
import * as service from './service.ts'

export const TYPE = 'projects'

export const Attributes = Type.Object({
  name: Text({
    pattern: '^[A-Za-z0-9_-][A-Za-z0-9 _-]{1,38}[A-Za-z0-9_-]$',
    predicate: 'may only contain 3 to 40 letters, digits, inner spaces, hyphens and underscores',
    description: 'Its name. No two projects of an organization have the same.',
    examples: ['network'],
  }),
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 256, description: 'What it is for.', examples: ['Shared networks'] })),
  ),
  'auto-destroy-activity-duration': Type.Optional(
    Nullable(
      Text({
        pattern: '^\\d{1,4}[dh]$',
        predicate: "has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
        description:
          'How long after its last change a workspace is destroyed, in days or hours; null for never.',
        examples: ['14d'],
      }),
    ),
  ),
  'default-execution-mode': Type.Optional(
    About('Where runs of its workspaces take place.', OneOf('remote', 'local', 'agent')),
  ),
  'default-agent-pool-id': Type.Optional(
    Nullable(
      Type.String({
        maxLength: 255,
        description: 'The pool whose agents carry out runs of its workspaces, with the mode `agent`.',
        examples: ['apool-yoGUFz5zcRMMz53i'],
      }),
    ),
  ),
  'setting-overwrites': Type.Optional(
    Type.Object(
      {
        'default-execution-mode': Type.Optional(Type.Boolean()),
        'default-agent-pool': Type.Optional(Type.Boolean()),
      },
      { additionalProperties: false, description: 'Which settings are its own, not the organization’s.' },
    ),
  ),
})

export const Relationships = Type.Object({
  'tag-bindings': Type.Optional(TagBindings),
  'default-agent-pool': Type.Optional(ToOneOrNone('agent-pools')),
})

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

const {
  name,
  description,
  'auto-destroy-activity-duration': activityDuration,
} = Type.Required(Attributes).properties

export const ShownProject = Shown('Project', TYPE, {
  id: 'prj-AwfuCJTkdai4xj9w',
  attributes: {
    name,
    description,
    'created-at': Moment('When it was made.'),
    'workspace-count': Type.Integer({ minimum: 0 }),
    'team-count': Type.Integer({ minimum: 0 }),
    'is-unified': Type.Boolean(),
    'auto-destroy-activity-duration': activityDuration,
    'default-execution-mode': OneOf('remote', 'local', 'agent'),
    'setting-overwrites': Permissions(['default-execution-mode', 'default-agent-pool']),
    permissions: Permissions(Object.keys(SHOWN_PERMISSIONS)),
  },
  relationships: {
    organization: Related('organizations'),
    'default-agent-pool': RelatedOrNone('agent-pools'),
    ...ShownRelationships,
  },
  links: Links('self'),
})

export async function toResource(
  ctx: Ctx,
  project: Project,
  bindings?: readonly EffectiveTagBinding[],
): Promise<Resource> {
  const access = await accessTo(ctx, project.organizationId)
  const overwrites = project.defaultExecutionMode !== null
  const execution = service.executionOf(project)
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
      'default-execution-mode': execution.mode,
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
      'default-agent-pool': toOne('agent-pools', execution.poolId),
      ...toBindingRelationships(TYPE, project.id, bindings),
    },
    links: { self: `/api/v2/projects/${project.id}` },
  }
}

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

export function toChanges({ attributes, relationships }: Input) {
  const { settingOverwrites, ...same } = camelKeys(attributes)
  const bindings = relationships['tag-bindings']
  const pool = relationships['default-agent-pool']
  return {
    ...(pool && { defaultAgentPoolId: pool.data?.id ?? null }),
    ...same,
    overwritesExecutionMode:
      settingOverwrites?.['default-execution-mode'] ?? settingOverwrites?.['default-agent-pool'],
    tagBindings: bindings && toBindings(bindings),
  }
}
