/**
 * The members of a list in the query, such as `filter[tagged][0][key]=env`: one object for each number after
 * `prefix`, in order, with the texts that stand for it.
 */
export function listIn(query: unknown, prefix: string): Record<string, string>[] {
  const items = new Map<number, Record<string, string>>()
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (!name.startsWith(`${prefix}[`)) continue
    const [, index, member] = /^\[(\d{1,3})\]\[([a-z-]+)\]$/.exec(name.slice(prefix.length)) ?? []
    if (index === undefined || member === undefined || typeof value !== 'string') continue
    items.set(Number(index), { ...items.get(Number(index)), [member]: value })
  }
  return [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
}
