/** What has one canonical text: numbers are whole, so that no two programs write them differently. */
export type Canonical =
  | string
  | number
  | boolean
  | null
  | readonly Canonical[]
  | { readonly [key: string]: Canonical | undefined }

/**
 * The text that RFC 8785 gives a value: keys in the order of their UTF-16 code units, no spaces. Properties that are
 * undefined are left out. Throws `TypeError` for numbers that are not whole, and for texts that are not Unicode.
 */
export function canonicalJson(value: Canonical): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value === 'object' && value !== null) {
    const properties = Object.entries(value).filter(([, property]) => property !== undefined)
    const texts = properties
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, property]) => `${canonicalJson(key)}:${canonicalJson(property as Canonical)}`)
    return `{${texts.join()}}`
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new TypeError('not a whole number')
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('not a Unicode text')
  return JSON.stringify(value)
}
