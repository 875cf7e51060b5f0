import type { Ctx } from '../context.ts'
import { AppError } from '../lib/errors.ts'
import type { Resource } from './jsonapi.ts'

/** The resources with these ids, as far as they exist and the subject may see them. */
type Loader = (ctx: Ctx, ids: readonly string[]) => Promise<Resource[]>

const loaders = new Map<string, Loader>()

/** Lets `include=` bring resources of `type` along; the slice that owns the type calls it while it mounts. */
export function includable(type: string, load: Loader): void {
  loaders.set(type, load)
}

interface Identifier {
  id: string
  type: string
}

/**
 * What `include` (comma-separated names of relationships, of which `allowed` may be asked for) brings along
 * for `resources`: each related resource once. Undefined when nothing was asked for.
 */
export async function include(
  ctx: Ctx,
  wanted: string | undefined,
  allowed: readonly string[],
  resources: readonly Resource[],
): Promise<Resource[] | undefined> {
  if (!wanted) return undefined
  const idsByType = new Map<string, Set<string>>()
  for (const name of namesOf(wanted, allowed)) {
    for (const { id, type } of resources.flatMap((resource) => related(resource, name))) {
      idsByType.set(type, (idsByType.get(type) ?? new Set()).add(id))
    }
  }
  const loaded = await Promise.all(
    [...idsByType].map(([type, ids]) => loaders.get(type)?.(ctx, [...ids]) ?? []),
  )
  return loaded.flat()
}

/** Whether `include` asks for the relationship `name`. */
export function wants(include: string | undefined, name: string): boolean {
  return include?.split(',').some((wanted) => relationshipName(wanted) === name) ?? false
}

/** Documentation says organization_memberships, clients say organization-memberships. */
function relationshipName(name: string): string {
  return name.trim().replaceAll('_', '-')
}

function namesOf(wanted: string, allowed: readonly string[]): string[] {
  const names = wanted.split(',').map(relationshipName)
  const unknown = names.find((name) => !allowed.includes(name))
  if (unknown === undefined) return names
  throw new AppError(
    'badRequest',
    `Invalid include parameter: ${unknown} is not one of ${allowed.join(', ')}`,
    { parameter: 'include' },
  )
}

function related({ relationships }: Resource, name: string): Identifier[] {
  const { data } = (relationships?.[name] ?? {}) as { data?: Identifier | Identifier[] | null }
  return [data ?? []].flat()
}
