import type { LogEvent } from 'kysely'

/** Hears what kind of statement ended (`select`, `insert`, …) and how long it took. */
export type OnQuery = (statement: string, seconds: number) => void

/** Kysely's log callback, which times every statement. */
export function reportTo(onQuery: OnQuery): (event: LogEvent) => void {
  return ({ query, queryDurationMillis }) => {
    onQuery(query.query.kind.replace(/(Query)?Node$/, '').toLowerCase(), queryDurationMillis / 1000)
  }
}
