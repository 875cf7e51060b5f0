import { AppError } from './errors.ts'

const DEFAULT_SIZE = 20
const MAX_SIZE = 100

/**
 * Which page of a list is wanted. The query's values are checked when they are first used, which is after
 * the list's owner was found and the caller authorized: 404 comes before 400.
 */
export class PageRequest {
  readonly #number: string | undefined
  readonly #size: string | undefined

  constructor(number: string | undefined, size: string | undefined) {
    this.#number = number
    this.#size = size
  }

  /** Counted from 1. */
  get number(): number {
    return positive(this.#number, 'page[number]') ?? 1
  }

  /** Items per page: 20 unless asked for, at most 100. */
  get size(): number {
    return Math.min(positive(this.#size, 'page[size]') ?? DEFAULT_SIZE, MAX_SIZE)
  }

  get offset(): number {
    return (this.number - 1) * this.size
  }
}

/** One page of a list, and how long the whole list is. */
export interface Page<T> {
  items: T[]
  number: number
  size: number
  totalCount: number
}

/** The page of a list that has nothing in it, for somebody who may see that there is a list. */
export function emptyPage({ number, size }: PageRequest): Page<never> {
  return { items: [], number, size, totalCount: 0 }
}

/** `meta.pagination` of a list response. */
export function paginationMeta(page: Page<unknown>) {
  const totalPages = Math.ceil(page.totalCount / page.size)
  const existing = (number: number) => (number >= 1 && number <= totalPages ? number : null)
  return {
    'current-page': page.number,
    'page-size': page.size,
    'prev-page': existing(page.number - 1),
    'next-page': existing(page.number + 1),
    'total-pages': totalPages,
    'total-count': page.totalCount,
  }
}

function positive(text: string | undefined, parameter: string): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    throw new AppError('badRequest', `${parameter} must be a whole number above zero`, { parameter })
  }
  return Number(text)
}
