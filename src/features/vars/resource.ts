import type { Static, TProperties } from 'typebox'
import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { About, Changes, Embedded, Nullable, OneOf, Text } from '../../http/schema.ts'
import { Links, Moment, Related, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { shownValue, type Var, type VariableAttributes, type VariableColumns } from './service.ts'

export const TYPE = 'vars'

const Key = Text({ maxLength: 128, description: 'Its name.', examples: ['instance_count'] })
const Value = Type.String({ description: 'Up to 256 kilobytes.', examples: ['3'] })
const Description = Type.String({
  maxLength: 512,
  description: 'What it is for. It is stored as it is, so that no secret belongs here.',
  examples: ['How many of them'],
})
const Category = About('Of the configuration, or of the environment.', OneOf('terraform', 'env'))
const Hcl = Type.Boolean({
  description: 'Whether the value is an expression of HCL; without effect in the environment.',
})
const Sensitive = Type.Boolean({ description: 'Whether the value is never shown. It cannot be turned off.' })

export const Attributes = Type.Object({
  key: Key,
  category: Category,
  value: Type.Optional(Nullable(Value)),
  description: Type.Optional(Nullable(Description)),
  hcl: Type.Optional(Hcl),
  sensitive: Type.Optional(Sensitive),
})

/** Variables that are given together with the set they belong to: new ones, or those of it by their ids. */
export const Variables = Embedded(TYPE, Changes(Attributes))

export function toVariables({ data }: Static<typeof Variables>): (VariableAttributes & { id?: string })[] {
  return data.map(({ id, attributes }) => ({ ...attributes, ...(id && { id }) }))
}

/** The schema of a variable that belongs to what `relationships` say. */
export function ShownVariable(title: string, relationships: TProperties) {
  return Shown(title, TYPE, {
    id: 'var-EavQ1LztoRTQHSNT',
    attributes: {
      key: Key,
      value: Nullable({ ...Value, description: 'Null if it is sensitive.' }),
      description: Description,
      category: Category,
      hcl: Hcl,
      sensitive: Sensitive,
      'version-id': Type.String({
        description: 'Another one after each change.',
        examples: ['ver-7sVqkT2mXw9LbR4d'],
      }),
      'created-at': Moment('When it was made.'),
    },
    relationships,
    links: Links('self'),
  })
}

export const ShownVar = ShownVariable('Variable', { configurable: Related('workspaces') })

/** The attributes of a variable, of a workspace or of a set. */
export function attributesOf(ctx: Ctx, variable: Pick<Var, keyof VariableColumns>) {
  return {
    key: variable.key,
    value: shownValue(ctx, variable),
    description: variable.description,
    category: variable.category,
    hcl: variable.hcl,
    sensitive: variable.sensitive,
    'version-id': variable.versionId,
    'created-at': variable.createdAt,
  }
}

export function toResource(ctx: Ctx, variable: Var): Resource {
  const { id, workspaceId, organizationName, workspaceName } = variable
  return {
    id,
    type: TYPE,
    attributes: attributesOf(ctx, variable),
    relationships: {
      configurable: {
        ...toOne('workspaces', workspaceId),
        links: { related: `/api/v2/organizations/${organizationName}/workspaces/${workspaceName}` },
      },
    },
    links: { self: `/api/v2/workspaces/${workspaceId}/vars/${id}` },
  }
}
