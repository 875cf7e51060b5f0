import semver from 'semver'

/** Says, for people, what is wrong with a version, or that there is no such engine. */
export class EngineVersionError extends Error {
  override name = 'EngineVersionError'
}

type Test = (version: string) => boolean

const PART = /^(=|!=|>|>=|<|<=|~>)?\s*v?(\d+(?:\.\d+){0,2})(-[0-9A-Za-z.-]+)?$/

/** What a setting such as `latest`, `1.9.8` or `~> 1.9.0, != 1.9.3` asks for. */
export interface Wanted {
  /** The only version that will do, when it is one. */
  exact: string | undefined
  allows: Test
}

/** Throws an `EngineVersionError` when it is none of these. */
export function parseWanted(setting: string): Wanted {
  const text = setting.trim()
  const exact = semver.valid(text)
  if (exact) return { exact, allows: (version) => version === exact }
  // A version that is not released must be named.
  const released: Test = (version) => semver.prerelease(version) === null
  if (text === 'latest' || text === '') return { exact: undefined, allows: released }
  const tests = text.split(',').map((part) => parsePart(part.trim(), setting))
  return { exact: undefined, allows: (version) => released(version) && tests.every((test) => test(version)) }
}

/** One comparison, as Terraform means it: `~>` lets only the last number that was given grow. */
function parsePart(part: string, setting: string): Test {
  const [, operator = '=', numbers = '', prerelease = ''] = PART.exec(part) ?? []
  if (numbers === '') throw new EngineVersionError(`${JSON.stringify(setting)} is not a version constraint`)
  const given = numbers.split('.').map(Number)
  const version = [...given, 0, 0].slice(0, 3).join('.') + prerelease
  switch (operator) {
    case '!=':
      return (other) => !semver.eq(other, version)
    case '>':
      return (other) => semver.gt(other, version)
    case '>=':
      return (other) => semver.gte(other, version)
    case '<':
      return (other) => semver.lt(other, version)
    case '<=':
      return (other) => semver.lte(other, version)
    case '~>':
      return (other) => semver.gte(other, version) && staysBelow(given, other)
    default:
      return (other) => semver.eq(other, version)
  }
}

/** `~> 1.9.0` is below 1.10.0, `~> 1.9` below 2.0.0, and `~> 1` has no end. */
function staysBelow(given: readonly number[], version: string): boolean {
  if (given.length === 1) return true
  const fixed = given.slice(0, -1)
  const numbers = [semver.major(version), semver.minor(version), semver.patch(version)]
  return fixed.every((number, index) => number === numbers[index])
}

/** The newest version that will do. */
export function newest(versions: readonly string[], { allows }: Wanted): string | undefined {
  return versions.filter(allows).sort(semver.rcompare)[0]
}
