import type { Attributes } from '../schema.ts'
import type { Values } from '../values.ts'

/** What the provider knows once it is configured. */
export interface Context {
  directory: string
  /** Aborted when Terraform wants everything under way to end. */
  signal: AbortSignal
}

/** What Terraform manages. Each step returns the state after it, with nothing unknown in it. */
export interface Resource {
  attributes: Attributes
  create: (context: Context, planned: Values) => Promise<Values>
  /** The state of what is there, undefined where nothing is any more. */
  read: (context: Context, state: Values) => Promise<Values | undefined>
  update: (context: Context, planned: Values) => Promise<Values>
  remove: (context: Context, state: Values) => Promise<void>
  /** What is known about the object of an id; the rest is read afterwards. */
  describe: (id: string) => Values
}

/** What Terraform only reads. */
export interface DataSource {
  attributes: Attributes
  read: (context: Context, config: Values) => Promise<Values>
}
