/** A moment as ISO 8601 with milliseconds in UTC, the form of every stored timestamp. */
export function timestamp(date: Date): string {
  return date.toISOString()
}

/** `2024-01-02T03:04:05.678Z` → `2024-01-02T03:04:05Z`, the precision that some resources promise. */
export function secondPrecision(stored: string): string {
  return `${stored.slice(0, 19)}Z`
}

/** The stored form of the moment `seconds` after another (before it, when negative). */
export function addSeconds(stored: string, seconds: number): string {
  return timestamp(new Date(Date.parse(stored) + seconds * 1000))
}
