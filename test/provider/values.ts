/** A value that will be known only after apply. */
export const UNKNOWN = Symbol('unknown')

/** A value of Terraform's language. A number that is not whole may also come as decimal text. */
export type Value = null | boolean | number | string | typeof UNKNOWN | Value[] | Values

/** The attributes of an object by name. */
export interface Values {
  [name: string]: Value
}
