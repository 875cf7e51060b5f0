import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { VariableColumns } from './table.ts'

/** What a request says about a variable, of a workspace or of a set; what is undefined stays as it is. */
export interface VariableAttributes {
  key?: string | undefined
  /** Null leaves it as it is too: so a sensitive value comes back from clients that return what they were shown. */
  value?: string | null | undefined
  description?: string | null | undefined
  category?: VariableColumns['category'] | undefined
  hcl?: boolean | undefined
  sensitive?: boolean | undefined
}

/** Bytes. */
const MAX_VALUE = 256 * 1024

/** The public API also takes names that begin with a digit, which no configuration can declare. */
const NAMES = {
  terraform: {
    pattern: /^[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u,
    rule: 'letters, digits, underscores and hyphens only, not beginning with a hyphen',
  },
  env: {
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    rule: 'letters, digits and underscores only, not beginning with a digit',
  },
}

/** The columns of a new variable. Refuses what does not fit, with pointers that begin with `pointer`. */
export function columnsOf(tx: Ctx, given: VariableAttributes, pointer: string) {
  const { key = '', category = 'terraform', value, description, hcl = false, sensitive = false } = given
  refuse([
    ...(given.key === undefined ? [{ detail: "Key can't be blank", pointer: `${pointer}/key` }] : []),
    ...(given.category ? [] : [{ detail: "Category can't be blank", pointer: `${pointer}/category` }]),
    ...(given.key === undefined ? [] : keyViolations(key, category, pointer)),
    ...valueViolations(value, pointer),
  ])
  const now = tx.now()
  return {
    id: newId('var'),
    key,
    category,
    hcl,
    sensitive,
    value: tx.vault.seal(value ?? ''),
    description: description ?? '',
    versionId: newId('ver'),
    createdAt: now,
    updatedAt: now,
  }
}

/** The columns that change. Refuses what does not fit the variable as it is. */
export function changesOf(tx: Ctx, before: VariableColumnsRead, given: VariableAttributes, pointer: string) {
  const { key = before.key, category = before.category, hcl, sensitive, value, description } = given
  refuse([
    ...(before.sensitive && sensitive === false
      ? [{ detail: 'Sensitive cannot be turned off', pointer: `${pointer}/sensitive` }]
      : []),
    ...(before.sensitive && key !== before.key
      ? [{ detail: 'Key of a sensitive variable cannot be changed', pointer: `${pointer}/key` }]
      : keyViolations(key, category, pointer)),
    ...valueViolations(value, pointer),
  ])
  return {
    key,
    category,
    ...(hcl !== undefined && { hcl }),
    ...(sensitive !== undefined && { sensitive }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(value != null && { value: tx.vault.seal(value) }),
    versionId: newId('ver'),
    updatedAt: tx.now(),
  }
}

type VariableColumnsRead = Pick<VariableColumns, 'key' | 'category' | 'sensitive'>

function keyViolations(key: string, category: VariableColumns['category'], pointer: string): Violation[] {
  const { pattern, rule } = NAMES[category]
  return pattern.test(key) ? [] : [{ detail: `Key is invalid: ${rule}`, pointer: `${pointer}/key` }]
}

function valueViolations(value: string | null | undefined, pointer: string): Violation[] {
  if (value == null) return []
  if (Buffer.byteLength(value) <= MAX_VALUE) return []
  return [{ detail: 'Value is too long (maximum is 256 kilobytes)', pointer: `${pointer}/value` }]
}

/** The value as it may be shown: null for ever once it was sensitive. */
export function shownValue(ctx: Ctx, { sensitive, value }: Pick<VariableColumns, 'sensitive' | 'value'>) {
  return sensitive ? null : ctx.vault.open(value)
}

/** The key may have been taken, and the owner deleted, a moment ago. */
export function refuseConflict(pointer: string) {
  return (error: unknown): never => {
    if (isForeignKeyViolation(error)) throw notFound()
    if (!isUniqueViolation(error)) throw error
    throw new AppError('invalid', 'Key has already been taken', { pointer: `${pointer}/key`, cause: error })
  }
}
