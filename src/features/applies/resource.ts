import type { Ctx } from '../../context.ts'
import { type Resource, toMany } from '../../http/jsonapi.ts'
import { Links, RelatedMany, Shown } from '../../http/shown.ts'
import { PHASE_ATTRIBUTES, phaseAttributes } from '../plans/resource.ts'
import type { Apply } from './service.ts'

export const TYPE = 'applies'

export const ShownApply = Shown('Apply', TYPE, {
  id: 'apply-47MBvjwzBG8YKc2v',
  attributes: PHASE_ATTRIBUTES,
  relationships: { 'state-versions': RelatedMany('state-versions') },
  links: Links('self'),
})

export function toResource(ctx: Ctx, apply: Apply): Resource {
  return {
    id: apply.id,
    type: TYPE,
    attributes: phaseAttributes(ctx, apply),
    relationships: { 'state-versions': toMany('state-versions', apply.stateVersionIds) },
    links: { self: `/api/v2/applies/${apply.id}` },
  }
}
