import { createHmac } from 'node:crypto'
import { newSecret } from '../lib/ids.ts'
import type { Counts } from './channel.ts'
import { type Mask, maskDeep } from './mask.ts'

interface Change {
  actions?: string[]
  before?: unknown
  after?: unknown
  before_sensitive?: unknown
  after_sensitive?: unknown
  importing?: unknown
  generated_config?: string
}

interface ResourceChange {
  mode?: string
  type?: string
  provider_name?: string
  change?: Change
}

/** What `show -json` says of a plan, as far as it is read here. */
export interface PlanJson {
  format_version: string
  applyable?: boolean
  resource_changes?: ResourceChange[]
  resource_drift?: ResourceChange[]
  deferred_changes?: { resource_change?: ResourceChange }[]
  output_changes?: Record<string, Change>
  relevant_attributes?: unknown
}

interface ProviderSchema {
  provider?: unknown
  [kind: string]: unknown
}

/** What `providers schema -json` says. */
export interface SchemaJson {
  format_version: string
  provider_schemas?: Record<string, ProviderSchema>
}

/** How many managed resources a plan makes, changes, removes and imports; a replacement is made and removed. */
export function countChanges(plan: PlanJson): Counts {
  const counts: Counts = { additions: 0, changes: 0, destructions: 0, imports: 0 }
  for (const { mode, change } of plan.resource_changes ?? []) {
    if (mode !== 'managed' || !change) continue
    const has = (action: string) => Number(change.actions?.includes(action) ?? false)
    counts.additions += has('create')
    counts.changes += has('update')
    counts.destructions += has('delete')
    counts.imports += change.importing ? 1 : 0
  }
  return counts
}

export function generatesConfiguration(plan: PlanJson): boolean {
  return (plan.resource_changes ?? []).some(({ change }) => change?.generated_config)
}

/** The schemas of no more than what the plan is about. */
export function usedSchemas(schemas: SchemaJson, plan: PlanJson): SchemaJson {
  const used = new Map<string, Set<string>>()
  for (const { provider_name = '', mode, type = '' } of allChanges(plan)) {
    const types = used.get(provider_name) ?? new Set()
    used.set(provider_name, types.add(`${KINDS[mode ?? ''] ?? KINDS['managed']}/${type}`))
  }
  const kept = Object.entries(schemas.provider_schemas ?? {}).flatMap(([name, schema]) => {
    const types = used.get(name)
    return types ? [[name, keepTypes(schema, types)] as const] : []
  })
  return { format_version: schemas.format_version, provider_schemas: Object.fromEntries(kept) }
}

const KINDS: Record<string, string> = {
  managed: 'resource_schemas',
  data: 'data_source_schemas',
  ephemeral: 'ephemeral_resource_schemas',
}

function keepTypes(schema: ProviderSchema, types: Set<string>): ProviderSchema {
  const kept: ProviderSchema = schema.provider === undefined ? {} : { provider: schema.provider }
  for (const kind of Object.values(KINDS)) {
    const entries = Object.entries((schema[kind] as object | undefined) ?? {})
    const wanted = entries.filter(([type]) => types.has(`${kind}/${type}`))
    if (wanted.length > 0) kept[kind] = Object.fromEntries(wanted)
  }
  return kept
}

function allChanges(plan: PlanJson): ResourceChange[] {
  const deferred = (plan.deferred_changes ?? []).flatMap((item) => item.resource_change ?? [])
  return [...(plan.resource_changes ?? []), ...(plan.resource_drift ?? []), ...deferred]
}

/**
 * The plan as everybody may see it who may see the run: sensitive values are replaced by digests, so that one can see
 * whether they change, and not what they are. The key of the digests is forgotten.
 */
export function redactPlan(plan: PlanJson, schemas: SchemaJson, mask: Mask): object {
  const hide = digestWith(newSecret())
  const redact = (change: Change): Change => ({
    ...change,
    ...(change.before !== undefined && { before: hideMarked(change.before, change.before_sensitive, hide) }),
    ...(change.after !== undefined && { after: hideMarked(change.after, change.after_sensitive, hide) }),
  })
  const redactResource = (resource: ResourceChange): ResourceChange =>
    resource.change ? { ...resource, change: redact(resource.change) } : resource
  const outputs = Object.entries(plan.output_changes ?? {})
  const redacted = {
    resource_changes: plan.resource_changes?.map(redactResource),
    resource_drift: plan.resource_drift?.map(redactResource),
    deferred_changes: plan.deferred_changes?.map((item) =>
      item.resource_change ? { ...item, resource_change: redactResource(item.resource_change) } : item,
    ),
    output_changes: Object.fromEntries(outputs.map(([name, change]) => [name, redact(change)])),
    relevant_attributes: plan.relevant_attributes,
  }
  return {
    plan_format_version: plan.format_version,
    // Values of variables that only the platform knows to be sensitive.
    ...(maskDeep(redacted, mask) as object),
    provider_format_version: schemas.format_version,
    provider_schemas: usedSchemas(schemas, plan).provider_schemas,
  }
}

type Hide = (leaf: unknown) => string

function digestWith(key: string): Hide {
  return (leaf) => createHmac('sha256', key).update(JSON.stringify(leaf)).digest('hex')
}

/** `marks` has the form of the value, with `true` where it is sensitive. Nothing stays nothing. */
function hideMarked(value: unknown, marks: unknown, hide: Hide): unknown {
  if (value === null || marks === false || marks === undefined || marks === null) return value
  const marksOf = (key: string | number) =>
    marks === true ? true : (marks as Record<string | number, unknown>)[key]
  if (Array.isArray(value)) return value.map((item, index) => hideMarked(item, marksOf(index), hide))
  if (typeof value === 'object') {
    const entries = Object.entries(value as object)
    return Object.fromEntries(entries.map(([key, item]) => [key, hideMarked(item, marksOf(key), hide)]))
  }
  return marks === true ? hide(value) : value
}
