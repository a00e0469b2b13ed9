import type { StandInReply } from '../../support/stand-in.ts'

export function entity(data: object, status = 200): StandInReply {
  return { status, body: { data, meta: { request_id: 'req' } } }
}

/** https://developer.paddle.com/api-reference/about/errors */
export function problem(status: number, code: string): StandInReply {
  const documentation_url = `https://developer.paddle.com/errors/${code}`
  const error = { type: 'request_error', code, detail: code, documentation_url }
  return { status, body: { error, meta: { request_id: 'req' } } }
}

/** What a list is asked for, and what it allows. */
export interface Listing {
  /** Of the list, without a query. */
  readonly url: string
  readonly query: URLSearchParams
  readonly mostPerPage: number
  readonly idField?: string
}

/** One page, by cursor; newest first unless asked otherwise. */
export function page(entities: readonly object[], listing: Listing): StandInReply {
  const { url, query, mostPerPage, idField = 'id' } = listing
  const idOf = (one: object) => String(new Map<string, unknown>(Object.entries(one)).get(idField))
  const direction = query.get('order_by') === 'id[ASC]' ? 1 : -1
  const sorted = entities.toSorted((a, b) => (idOf(a) < idOf(b) ? -direction : direction))
  const after = query.get('after')
  const start = after === null ? 0 : sorted.findIndex((one) => idOf(one) === after) + 1
  const size = Math.min(Number(query.get('per_page') ?? 50), mostPerPage)
  const data = sorted.slice(start, start + size)
  const next = new URL(url)
  next.search = query.toString()
  const last = data.at(-1)
  if (last !== undefined) next.searchParams.set('after', idOf(last))
  const pagination = {
    per_page: size,
    next: next.href,
    has_more: start + size < sorted.length,
    estimated_total: sorted.length,
  }
  return { body: { data, meta: { request_id: 'req', pagination } } }
}
