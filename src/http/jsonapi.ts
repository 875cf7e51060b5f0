import { type AppError, FAILURES } from '../lib/errors.ts'
import { type Page, paginationMeta } from '../lib/pagination.ts'

export const MEDIA_TYPE = 'application/vnd.api+json'

/** A resource object as it is sent. Attributes are listed by hand: a new column must not leak. */
export interface Resource {
  id: string
  type: string
  attributes?: Record<string, unknown>
  relationships?: Record<string, unknown>
  links?: Record<string, unknown>
}

/** A document with one resource. */
export function one(data: Resource, included?: Resource[]) {
  return { data, ...(included && { included }) }
}

type ToResource<T> = (item: T) => Resource | Promise<Resource>

/** A document with a list that has no pages. */
export async function all<T>(items: readonly T[], toResource: ToResource<T>, included?: Resource[]) {
  return { data: await Promise.all(items.map(toResource)), ...(included && { included }) }
}

/**
 * A document with one page of a list, its links and its counts; `href` is the address of the request, whose
 * form (absolute or not) and other parameters the links keep.
 */
export async function many<T>(page: Page<T>, href: string, toResource: ToResource<T>, included?: Resource[]) {
  const meta = paginationMeta(page)
  const at = (number: number | null) => (number === null ? null : pageHref(href, number, page.size))
  return {
    data: await Promise.all(page.items.map(toResource)),
    ...(included && { included }),
    links: {
      self: at(page.number),
      first: at(1),
      prev: at(meta['prev-page']),
      next: at(meta['next-page']),
      last: at(Math.max(1, meta['total-pages'])),
    },
    meta: { pagination: meta },
  }
}

/** A relationship to one resource. */
export function toOne(type: string, id: string | null | undefined) {
  return { data: id ? { id, type } : null }
}

/** A relationship to many resources. */
export function toMany(type: string, ids: readonly string[]) {
  return { data: ids.map((id) => ({ id, type })) }
}

/** An error document: one error object per violation. `status` is a string; the Go client loses numbers. */
export function failure(error: AppError) {
  const { status, title } = FAILURES[error.code]
  return {
    errors: error.violations.map(({ detail, pointer, parameter }) => ({
      status: String(status),
      title,
      detail,
      ...(pointer !== undefined && { source: { pointer } }),
      ...(parameter !== undefined && { source: { parameter } }),
    })),
  }
}

/** The same address with another page, its other parameters kept, brackets percent-encoded. */
function pageHref(href: string, number: number, size: number): string {
  const [path = '', search = ''] = href.split('?', 2)
  const query = new URLSearchParams(search)
  query.delete('page[number]')
  query.delete('page[size]')
  query.append('page[number]', String(number))
  query.append('page[size]', String(size))
  return `${path}?${query}`
}
