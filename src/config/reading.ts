export type Environment = Record<string, string | undefined>

/** Reads one variable, or `fallback` where it is not set; what is wrong with it is noted. */
export type Read = <T>(
  name: string,
  fallback: string,
  parse: (text: string) => T | undefined,
  rule: string,
) => T

/** An address, without a slash at the end. */
export function parseUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return undefined
  return url.href.replace(/\/+$/, '')
}
