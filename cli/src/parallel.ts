/**
 * Does `work` for each item, at most `limit` at a time, and returns the results in the items' order. After a failure
 * nothing more is started, what runs is aborted by its signal, and the first failure is thrown.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const results: R[] = []
  const queue = items.entries()
  let failure: { error: unknown } | undefined
  const worker = async () => {
    for (const [index, item] of queue) {
      if (either.aborted) return
      try {
        results[index] = await work(item, either)
      } catch (error) {
        failure ??= { error }
        failed.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  if (failure) throw failure.error
  signal.throwIfAborted()
  return results
}
