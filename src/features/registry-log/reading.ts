import type { Ctx } from '../../context.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { LogHead, LogHeader, LogKey, LogRecord } from '../../lib/registry-log.ts'
import * as organizations from '../organizations/service.ts'
import * as store from './store.ts'

/** Records of an export that are read at once. */
const BATCH = 500

/** Whose records are wanted; all of them when neither is given. */
export interface LogFilter {
  /** The name of a provider. */
  provider?: string | undefined
  /** The name of a module, or `name/system` for that of one system. */
  module?: string | undefined
}

/** The records of an organization's log, newest first, where it ends, and what it is signed with. */
export async function list(ctx: Ctx, organizationName: string, filter: LogFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  const records = await store.list(ctx.db, id, wantedBy(filter), page)
  return {
    records: { ...records, items: records.items.map(toRecord) },
    head: (await store.findHead(ctx.db, id)) ?? null,
    keys: await listKeys(ctx),
  }
}

/**
 * The log for those who check it themselves: what it says of itself, and its records, oldest first, from number `from`
 * on. They are read as they are taken, so that a log of any length needs the same memory.
 */
export async function exportFrom(ctx: Ctx, organizationName: string, from: () => number) {
  const { id, name } = await organizations.getByName(ctx, organizationName, 'registry:read')
  const head = (await store.findHead(ctx.db, id)) ?? null
  const header: LogHeader = { organization: { id, name }, head, keys: await listKeys(ctx) }
  return { header, records: recordsBetween(ctx, id, from(), head) }
}

/** Some at a time. */
async function* recordsBetween(
  ctx: Ctx,
  organizationId: string,
  from: number,
  head: LogHead | null,
): AsyncGenerator<LogRecord[]> {
  for (let next = from; next <= (head?.sequence ?? 0); next += BATCH) {
    const to = Math.min(next + BATCH - 1, head?.sequence ?? 0)
    yield (await store.listBetween(ctx.db, organizationId, next, to)).map(toRecord)
  }
}

async function listKeys(ctx: Ctx): Promise<LogKey[]> {
  return (await store.listKeys(ctx.db)).map(({ id, publicKey }) => ({ id, 'public-key': publicKey }))
}

function wantedBy({ provider, module }: LogFilter): store.Wanted[] {
  const wanted: store.Wanted[] = []
  if (provider !== undefined) wanted.push({ kind: 'provider-version', name: provider })
  if (module !== undefined) {
    const [name = '', system] = module.split('/', 2)
    wanted.push({ kind: 'module-version', name, system })
  }
  return wanted
}

function toRecord({
  content,
  hash,
  signature,
}: Pick<store.RecordRow, 'content' | 'hash' | 'signature'>): LogRecord {
  return { ...JSON.parse(content), hash, signature }
}
