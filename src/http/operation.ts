import type { FastifyContextConfig } from 'fastify'
import type { TSchema } from 'typebox'
import type { FailureCode } from '../lib/errors.ts'

/** One way in which an operation succeeds. */
export interface Answer {
  description: string
  /** Of the body; there is none without a schema and a media type. */
  schema?: TSchema
  mediaType?: string
  /** A page of a list, so that the query names which. */
  paginated?: true
}

/**
 * What the documentation says of a route that its schemas do not show. It serves docs/openapi.json and the
 * tests, which hold every answer against it; nothing here changes how the server behaves.
 */
export interface Operation {
  /** Unique; a verb and a noun, which generated clients take for the name of a method. */
  id: string
  tag: string
  /** What the tag is about. */
  about: string
  summary: string
  description?: string
  /** By status. */
  answers: Record<number, Answer>
  /** When it fails in ways that do not follow from its form (openapi-failures.ts says which do). */
  failures?: Partial<Record<FailureCode, string>>
  /** The media type of the body that the route's schema describes, unless it is that of JSON:API. */
  consumes?: string
  /** A request body that no schema describes: bytes. */
  upload?: { description: string; mediaType: string }
}

/** A route that says what it does. */
export interface DocumentedRoute {
  method: string
  url: string
  schema?: { body?: unknown; querystring?: unknown } | undefined
  config: FastifyContextConfig & { doc: Operation }
}

type More = Pick<Operation, 'description' | 'failures' | 'upload' | 'consumes'>

/**
 * Describes the operations of one slice: `doc('createTeam', 'Make a team', { 201: answerOne(ShownTeam) })`.
 * `common` are failures of all of them.
 */
export function documents(tag: string, about: string, common: Operation['failures'] = {}) {
  return (id: string, summary: string, answers: Record<number, Answer>, more: More = {}): Operation => ({
    id,
    tag,
    about,
    summary,
    answers,
    ...more,
    failures: { ...common, ...more.failures },
  })
}
