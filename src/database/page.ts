import { fieldError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/uuid.ts'

/** Newest first; `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly nextCursor: string | null
}

/** Where a page starts (the `nextCursor` of the one before) and how long it is. */
export interface PageQuery {
  /** 1 to 100, default 20. */
  readonly limit?: number
  readonly cursor?: string
}

/** The place after which a page starts: a row's time and id. */
export interface Position {
  readonly at: Date
  readonly id: string
}

const defaultLimit = 20
const largestLimit = 100

export function pageLimit(query: PageQuery): number {
  const limit = Math.trunc(query.limit ?? defaultLimit)
  return Number.isNaN(limit) ? defaultLimit : Math.min(Math.max(limit, 1), largestLimit)
}

export function readCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const [time, id] = Buffer.from(cursor, 'base64url').toString().split('/')
  const at = new Date(time ?? '')
  if (Number.isNaN(at.getTime()) || !isUuid(id)) {
    throw fieldError('cursor_invalid', 'cursor', 'is not one that this service gave out')
  }
  return { at, id }
}

/** Cuts the extra row that tells whether there is a next page. */
export function toPage<T>(
  rows: readonly T[],
  limit: number,
  positionOf: (row: T) => Position,
): Page<T> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  if (rows.length <= limit || last === undefined) return { data, nextCursor: null }
  return { data, nextCursor: cursorOf(positionOf(last)) }
}

export function cursorOf({ at, id }: Position): string {
  return Buffer.from(`${at.toISOString()}/${id}`).toString('base64url')
}
