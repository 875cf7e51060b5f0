import { PostgresQueryCompiler, SqliteQueryCompiler } from 'kysely'
import { camelCase, snakeCase } from '../lib/case.ts'

// TypeScript says createdAt, SQL says created_at. Translating identifiers while the text is compiled costs a
// map look-up a name; Kysely's CamelCasePlugin would walk every query and every row instead.

const snakes = new Map<string, string>()
const camels = new Map<string, string>()

function remembered(memory: Map<string, string>, name: string, translate: (name: string) => string): string {
  let translated = memory.get(name)
  if (translated === undefined) {
    translated = translate(name)
    memory.set(name, translated)
  }
  return translated
}

/** The property name of a result column. */
export function propertyName(column: string): string {
  return remembered(camels, column, camelCase)
}

export class SnakeCaseSqliteCompiler extends SqliteQueryCompiler {
  /** FOR UPDATE is left out: there is one writer, so a transaction that reads rows has them to itself. */
  protected override visitSelectModifier(): void {}

  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(remembered(snakes, identifier, snakeCase))
  }
}

export class SnakeCasePostgresCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(remembered(snakes, identifier, snakeCase))
  }
}
