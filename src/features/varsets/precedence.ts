/** A set that applies to a workspace, with why. */
export interface AppliedSet {
  name: string
  global: boolean
  priority: boolean
  /** Whether a project owns it, not the organization. */
  ownedByProject: boolean
  /** Whether it was given to the workspace. */
  onWorkspace: boolean
  /** Whether it was given to the workspace’s project. */
  onProject: boolean
}

/** What a run is given, the strongest first. Sets are named by whether they have priority, owner, and scope. */
const ORDER = [
  'priority organization global',
  'priority organization project',
  'priority organization workspace',
  'priority project project',
  'priority project workspace',
  // Here stand the variables that a run was given on its way.
  'workspace',
  'plain project workspace',
  'plain project project',
  'plain organization workspace',
  'plain organization project',
  'plain organization global',
]

const OF_WORKSPACE = ORDER.indexOf('workspace')

/** The place of a set in the order; the stronger one of two, for a set with two scopes. */
function rankOf({ global, priority, ownedByProject, onWorkspace, onProject }: AppliedSet): number {
  const scopes = global
    ? ['global']
    : [...(onProject ? ['project'] : []), ...(onWorkspace ? ['workspace'] : [])]
  const owner = ownedByProject ? 'project' : 'organization'
  return Math.min(
    ...scopes.map((scope) => ORDER.indexOf(`${priority ? 'priority' : 'plain'} ${owner} ${scope}`)),
  )
}

interface Named {
  key: string
  category: string
}

/** A variable that nothing overrides. */
export interface Effective<T> {
  variable: T
  /** Whether it beats what a run is given on its way. */
  priority: boolean
}

/**
 * The strongest variable of each category and key, by key. Of two sets with the same place the one whose name comes
 * first wins, by Unicode code points.
 */
export function merge<V extends Named, W extends Named>(
  own: readonly W[],
  sets: readonly { set: AppliedSet; variables: readonly V[] }[],
): Effective<V | W>[] {
  const candidates = [
    ...own.map((variable) => ({ rank: OF_WORKSPACE, name: '', variable })),
    ...sets.flatMap(({ set, variables }) => {
      const rank = rankOf(set)
      return variables.map((variable) => ({ rank, name: set.name, variable }))
    }),
  ]
  candidates.sort((a, b) => a.rank - b.rank || compare(a.name, b.name))
  const strongest = new Map<string, Effective<V | W>>()
  for (const { rank, variable } of candidates) {
    const name = `${variable.category} ${variable.key}`
    if (!strongest.has(name)) strongest.set(name, { variable, priority: rank < OF_WORKSPACE })
  }
  return [...strongest.values()].sort((a, b) => compare(a.variable.key, b.variable.key))
}

/** By code points, as UTF-8 has them in order; JavaScript compares halves of those beyond the first 65,536. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
