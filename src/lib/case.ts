type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** The keys of `T` in camelCase, its values unchanged. */
export type CamelKeys<T> = { [K in keyof T as K extends string ? CamelCase<K> : K]: T[K] }

/** `disable-overrides` → `disableOverrides`, on the first level only. */
export function camelKeys<T extends object>(attributes: T): CamelKeys<T> {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [camelCase(key), value]),
  ) as CamelKeys<T>
}

/** `created_at` or `created-at` → `createdAt`. */
export function camelCase(name: string): string {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `createdAt` → `created_at`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `disable-overrides` → `Disable overrides`, for messages that begin with an attribute's name. */
export function humanize(attribute: string): string {
  const words = attribute.replace(/[-_]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
