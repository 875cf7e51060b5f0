import type { Static } from 'typebox'
import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { Nullable, OneOf, Text, ToMany } from '../../http/schema.ts'
import { Links, Moment, Related, RelatedMany, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { attributesOf, ShownVariable, toVariables, TYPE as VARS, Variables } from '../vars/resource.ts'
import type { Varset, VarsetAttributes, VarsetVar } from './service.ts'

export const TYPE = 'varsets'

const Name = Text({
  description: 'Its name. Of two sets that say different things, the one whose name comes first wins.',
  examples: ['Credentials of the provider'],
})
const Description = Type.String({ maxLength: 5000, description: 'What it is for.' })
const Global = Type.Boolean({ description: 'Whether it applies to every workspace of the organization.' })
const Priority = Type.Boolean({
  description: 'Whether it beats what is more specific, also what a run is given on its way.',
})

export const Attributes = Type.Object({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  global: Type.Optional(Global),
  priority: Type.Optional(Priority),
})

const Parent = Type.Object(
  { id: Text(), type: OneOf('organizations', 'projects') },
  { additionalProperties: false, description: 'Whose it is: the organization’s, or one project’s.' },
)

export const Relationships = Type.Object({
  parent: Type.Optional(Type.Object({ data: Nullable(Parent) }, { additionalProperties: false })),
  workspaces: Type.Optional(ToMany('workspaces')),
  projects: Type.Optional(ToMany('projects')),
  vars: Type.Optional(Variables),
})

const Count = Type.Integer({ minimum: 0 })

export const ShownVarset = Shown('VariableSet', TYPE, {
  id: 'varset-kjkN545LH2Sfercv',
  attributes: {
    name: Name,
    description: Description,
    global: Global,
    priority: Priority,
    'created-at': Moment('When it was made.'),
    'updated-at': Moment('When it was last changed.'),
    'var-count': Count,
    'workspace-count': Count,
    'project-count': Count,
  },
  relationships: {
    organization: Related('organizations'),
    parent: Related('organizations', 'projects'),
    vars: RelatedMany(VARS),
    workspaces: RelatedMany('workspaces'),
    projects: RelatedMany('projects'),
  },
  links: Links('self'),
})

export const ShownVarsetVar = ShownVariable('VariableOfSet', { varset: Related(TYPE) })

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

const idsOf = (relationship: { data: { id: string }[] } | undefined) => relationship?.data.map(({ id }) => id)

export function toAttributes({ attributes, relationships }: Input): VarsetAttributes {
  const { parent, workspaces, projects, vars } = relationships
  return {
    ...attributes,
    parent: parent?.data ?? undefined,
    workspaceIds: idsOf(workspaces),
    projectIds: idsOf(projects),
    variables: vars && toVariables(vars),
  }
}

export function toResource(set: Varset): Resource {
  const { id, parentProjectId } = set
  const organization = toOne('organizations', set.organizationName)
  return {
    id,
    type: TYPE,
    attributes: {
      name: set.name,
      description: set.description,
      global: set.global,
      priority: set.priority,
      'created-at': set.createdAt,
      'updated-at': set.updatedAt,
      'var-count': set.varIds.length,
      'workspace-count': set.workspaceIds.length,
      'project-count': set.projectIds.length,
    },
    relationships: {
      organization,
      parent: parentProjectId === null ? organization : toOne('projects', parentProjectId),
      vars: toMany(VARS, set.varIds),
      workspaces: toMany('workspaces', set.workspaceIds),
      projects: toMany('projects', set.projectIds),
    },
    links: { self: `/api/v2/varsets/${id}` },
  }
}

/** Without `configurable`, which the Go client takes for a workspace whatever its type. */
export function toVariable(ctx: Ctx, variable: VarsetVar): Resource {
  const { id, varsetId } = variable
  const set = `/api/v2/varsets/${varsetId}`
  return {
    id,
    type: VARS,
    attributes: attributesOf(ctx, variable),
    relationships: { varset: { ...toOne(TYPE, varsetId), links: { related: set } } },
    links: { self: `${set}/relationships/vars/${id}` },
  }
}
