import type { Ctx } from '../../context.ts'
import type { Resource } from '../../http/jsonapi.ts'
import { Links, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { Output } from './service.ts'
import * as service from './service.ts'

export const TYPE = 'state-version-outputs'

/** What workspaces call the outputs of their current state. */
export const WORKSPACE_TYPE = 'workspace-outputs'

const Name = Type.String({ examples: ['address'] })
const Sensitive = Type.Boolean({
  description: 'Whether the value is told only where the output itself is asked for.',
})
const Value = Type.Unknown({ description: 'Any JSON. Null in lists when it is sensitive.' })
const Word = Type.String({ examples: ['string', 'number', 'boolean', 'array', 'object'] })
const Detailed = Type.Unknown({
  description: 'The type as the engine tells it.',
  examples: ['string', ['list', 'string']],
})

export const ShownOutput = Shown('StateVersionOutput', TYPE, {
  id: 'wsout-J2zM24JPFbfc7bE5',
  attributes: { name: Name, sensitive: Sensitive, type: Word, value: Value, 'detailed-type': Detailed },
  links: Links('self'),
})

/** As lists show it: the value of a sensitive output is told only when it is asked for by itself. */
export function toListed(ctx: Ctx, output: Output): Resource {
  return toResource(output, output.sensitive ? null : service.openValue(ctx, output))
}

/** The output by itself. */
export function toRevealed(ctx: Ctx, output: Output): Resource {
  return toResource(output, service.openValue(ctx, output))
}

function toResource(output: Output, value: unknown): Resource {
  const { id, name, sensitive, type } = output
  return {
    id,
    type: TYPE,
    attributes: { name, sensitive, type, value, 'detailed-type': JSON.parse(output.detailedType) },
    links: { self: `/api/v2/state-version-outputs/${id}` },
  }
}

/** As what workspaces include: the same id, and another name for the type. */
export function toWorkspaceOutput(ctx: Ctx, output: Output): Resource {
  const { id, name, sensitive, type } = output
  return {
    id,
    type: WORKSPACE_TYPE,
    attributes: {
      name,
      sensitive,
      'output-type': type,
      value: sensitive ? null : service.openValue(ctx, output),
      'detailed-type': JSON.parse(output.detailedType),
    },
    links: { self: `/api/v2/state-version-outputs/${id}` },
  }
}
