import semver from 'semver'
import type { EngineVersion } from './channel.ts'
import { EngineVersionError, type Wanted } from './constraints.ts'
import type { Archive } from './download.ts'
import { PLATFORM } from './platform.ts'

/** What a workspace asks for, as far as site administrators allow it. */
export interface Rules extends Wanted {
  /** By version, what this machine can have from elsewhere than all others. */
  archives: ReadonlyMap<string, Archive>
  /** Throws when some of these versions would do, but all that would are disabled. */
  refuseDisabled: (versions: readonly string[]) => void
}

export function rulesOf(wanted: Wanted, special: readonly EngineVersion[]): Rules {
  const { exact } = wanted
  const disabled = new Set(special.filter(({ enabled }) => !enabled).map(({ version }) => version))
  const beta = new Set(special.filter((each) => each.beta).map(({ version }) => version))
  const isWanted = (version: string) => wanted.allows(version) && (exact !== undefined || !beta.has(version))
  const allows = (version: string) => isWanted(version) && !disabled.has(version)
  return {
    exact,
    allows,
    archives: new Map(
      special.flatMap(({ version, archives }) => {
        const archive = archives.find(({ platform }) => platform === PLATFORM)
        return archive ? [[version, archive]] : []
      }),
    ),
    refuseDisabled(versions) {
      const would = versions.filter(isWanted)
      if (would.length > 0 && !would.some(allows)) throw new EngineVersionError(explain(would))
    },
  }
}

function explain(versions: readonly string[]): string {
  const names = versions.toSorted(semver.compare).join(', ')
  return `engine version ${names} is disabled by the administrators of the site; change the version of the workspace`
}
