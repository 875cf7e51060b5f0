const NUMBER = '(0|[1-9][0-9]*)'
const PRERELEASE = '(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'

/** The grammar of semver.org, version 2.0.0, as the source of a regular expression. */
export const SEMVER = `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRERELEASE}(\\.${PRERELEASE})*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$`
