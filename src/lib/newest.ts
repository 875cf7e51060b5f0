import rcompare from 'semver/functions/rcompare.js'

/** The same in order of their semantic versions, the newest first; what only build metadata tells apart by text. */
export function newestFirst<T extends { version: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => rcompare(a.version, b.version) || (a.version < b.version ? 1 : -1))
}
