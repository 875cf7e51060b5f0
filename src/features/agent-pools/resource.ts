import type { Static } from 'typebox'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { Text, ToMany } from '../../http/schema.ts'
import { Links, Moment, Related, RelatedAddress, RelatedMany, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { AgentPool, AgentPoolAttributes } from './service.ts'

export const TYPE = 'agent-pools'

const Name = Text({
  pattern: '^[A-Za-z0-9_-]{1,90}$',
  rule: '1 to 90 letters, digits, hyphens and underscores',
  description: 'Its name. No two pools of an organization have the same.',
  examples: ['on-premises'],
})
const Scoped = Type.Boolean({ description: 'Whether every workspace of the organization may use it.' })

export const Attributes = Type.Object({ name: Name, 'organization-scoped': Type.Optional(Scoped) })

export const Relationships = Type.Object({
  'allowed-workspaces': Type.Optional(ToMany('workspaces')),
  'allowed-projects': Type.Optional(ToMany('projects')),
  'excluded-workspaces': Type.Optional(ToMany('workspaces')),
})

export const ShownAgentPool = Shown('AgentPool', TYPE, {
  id: 'apool-yoGUFz5zcRMMz53i',
  attributes: {
    name: Name,
    'organization-scoped': Scoped,
    'agent-count': Type.Integer({
      minimum: 0,
      description: 'Agents that are idle or busy, or were not heard of for a while.',
    }),
    'created-at': Moment('When it was made.'),
  },
  relationships: {
    organization: Related('organizations'),
    agents: RelatedAddress,
    'authentication-tokens': RelatedAddress,
    workspaces: RelatedMany('workspaces'),
    'allowed-workspaces': RelatedMany('workspaces'),
    'allowed-projects': RelatedMany('projects'),
    'excluded-workspaces': RelatedMany('workspaces'),
  },
  links: Links('self'),
})

export function toResource(pool: AgentPool): Resource {
  const self = `/api/v2/agent-pools/${pool.id}`
  return {
    id: pool.id,
    type: TYPE,
    attributes: {
      name: pool.name,
      'organization-scoped': pool.organizationScoped,
      'agent-count': pool.agentCount,
      'created-at': pool.createdAt,
    },
    relationships: {
      organization: toOne('organizations', pool.organizationName),
      agents: { links: { related: `${self}/agents` } },
      'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
      workspaces: toMany('workspaces', pool.workspaceIds),
      'allowed-workspaces': toMany('workspaces', pool.allowedWorkspaceIds),
      'allowed-projects': toMany('projects', pool.allowedProjectIds),
      'excluded-workspaces': toMany('workspaces', pool.excludedWorkspaceIds),
    },
    links: { self },
  }
}

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

const idsOf = (relationship: { data: { id: string }[] } | undefined) => relationship?.data.map(({ id }) => id)

export function toAttributes({ attributes, relationships }: Input): AgentPoolAttributes {
  return {
    name: attributes.name,
    organizationScoped: attributes['organization-scoped'],
    allowedWorkspaceIds: idsOf(relationships['allowed-workspaces']),
    allowedProjectIds: idsOf(relationships['allowed-projects']),
    excludedWorkspaceIds: idsOf(relationships['excluded-workspaces']),
  }
}
