import { sql, type SelectQueryBuilder } from 'kysely'
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

/**
 * Of the rows after the cursor as many as a page has, and one more, newest first: by its id, which
 * begins with the time, or by a time and the id.
 */
export function newestOf(query: PageQuery, id: string, time?: string) {
  const after = readCursor(query.cursor)
  const by = [time, id].flatMap((name) => (name === undefined ? [] : [sql.ref(name)]))
  return <Known, Table extends keyof Known, Row>(
    select: SelectQueryBuilder<Known, Table, Row>,
  ): SelectQueryBuilder<Known, Table, Row> => {
    let page = select.limit(pageLimit(query) + 1)
    for (const column of by) page = page.orderBy(column, 'desc')
    if (after === undefined) return page
    const last = time === undefined ? [] : [sql`${after.at}`]
    const place = sql.join([...last, sql`${after.id}::uuid`])
    return page.where(sql<boolean>`(${sql.join(by)}) < (${place})`)
  }
}

/** Cuts the extra row that tells whether there is a next page. */
export function toPage<T>(
  rows: readonly T[],
  query: PageQuery,
  positionOf: (row: T) => Position,
): Page<T> {
  const limit = pageLimit(query)
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  if (rows.length <= limit || last === undefined) return { data, nextCursor: null }
  return { data, nextCursor: cursorOf(positionOf(last)) }
}

export function cursorOf({ at, id }: Position): string {
  return Buffer.from(`${at.toISOString()}/${id}`).toString('base64url')
}
