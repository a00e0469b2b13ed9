import { sql, type Kysely } from 'kysely'
import type { Database } from './connect.ts'
import { callFilters, type WebhookCall } from '../events/webhook-call.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { timeOfId } from '../kernel/ids.ts'
import type { FilterValues } from '../kernel/noun.ts'
import { listedColumns, toCall } from './calls.ts'
import { conditionsOf } from './conditions.ts'
import {
  cursorOf,
  newestOf,
  pageLimit,
  readCursor,
  toPage,
  type Page,
  type PageQuery,
} from './page.ts'
import { readInOrder } from './read-in-order.ts'
import { scanWindows, type Window, type WindowOf } from './scan-windows.ts'
import type { Tables } from './tables.ts'

/** Which calls to list; all of them if left out. */
export interface CallsQuery extends PageQuery, FilterValues<typeof callFilters> {}

const narrowing = Object.keys(callFilters).map((name) => sql.ref(snakeCase(name)))

/**
 * Newest first. What has an index of its own is looked up; what has none is looked for among so many
 * calls, and a page may be short, or empty, although there is a next one.
 */
export async function listCalls(database: Database, query: CallsQuery): Promise<Page<WebhookCall>> {
  const { db } = database
  if (mustScan(query)) return scanCalls(db, query)
  const { state } = query
  if (state !== 'pending' && state !== 'processing') return findCalls(db, query)
  const ids = await readInOrder(database, (ordered) => idsOf(ordered, state))
  // Of very many, most of the newest calls are.
  return ids === undefined ? scanCalls(db, query) : findCalls(db, query, ids)
}

const mostUnderWay = 2_000

/** Those in a state that few are in: it has an index, in another order. Undefined: too many are. */
async function idsOf(
  db: Kysely<Tables>,
  state: 'pending' | 'processing',
): Promise<readonly string[] | undefined> {
  // In the order of its index: otherwise the table might be read from its beginning.
  const order = state === 'pending' ? sql`next_attempt_at, id` : sql`lease_until`
  const { rows } = await sql<{ id: string }>`
    select id from billing.webhook_calls where state = ${sql.lit(state)} order by ${order}
    limit ${mostUnderWay + 1}`.execute(db)
  return rows.length > mostUnderWay ? undefined : rows.map(({ id }) => id)
}

/** Whether the calls that fit may be few among very many others. */
function mustScan({ state, gateway, needsReview, paymentId }: CallsQuery): boolean {
  if (paymentId !== undefined || needsReview === true) return false
  if (state !== undefined) return state === 'processed' || state === 'ignored'
  return gateway !== undefined || needsReview === false
}

/**
 * By id, which begins with the time. Those that failed or need a person are few among many, and have
 * indexes of their own, by time.
 */
async function findCalls(
  db: Kysely<Tables>,
  query: CallsQuery,
  ids?: readonly string[],
): Promise<Page<WebhookCall>> {
  const byTime = query.state === 'failed' || query.needsReview === true
  const conditions = conditionsOf(callFilters, query)
  let select = db
    .selectFrom('billing.webhook_calls')
    .select(listedColumns)
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id', byTime ? 'received_at' : undefined))
  if (ids !== undefined) select = select.where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
  const calls = (await select.execute()).map(toCall)
  return toPage(calls, query, (call) => ({ at: call.receivedAt, id: call.id }))
}

/** Looks among so many calls, from the newest or from the cursor on, and goes on from there. */
async function scanCalls(db: Kysely<Tables>, query: CallsQuery): Promise<Page<WebhookCall>> {
  const from = readCursor(query.cursor)?.id
  const { hits, next } = await scanWindows(pageLimit(query), from, (window) =>
    readWindow(db, query, window),
  )
  const data = await readCalls(db, hits)
  return { data, nextCursor: next === undefined ? null : cursorOf(placeOf(next)) }
}

export async function readCalls(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly WebhookCall[]> {
  if (ids.length === 0) return []
  const select = db.selectFrom('billing.webhook_calls').select(listedColumns)
  const rows = await select.where('id', 'in', ids).orderBy('id', 'desc').execute()
  return rows.map(toCall)
}

function placeOf(id: string) {
  return { at: new Date(timeOfId(id)), id }
}

async function readWindow(
  db: Kysely<Tables>,
  query: CallsQuery,
  { after, rows: most }: WindowOf<string>,
): Promise<Window<string>> {
  const fits = sql.join([sql`true`, ...conditionsOf(callFilters, query)], sql` and `)
  const behind = after === undefined ? sql`` : sql`where id < ${after}::uuid`
  const { rows } = await sql<{ id: string; is_hit: boolean; is_last: boolean }>`
    with scanned as materialized (
      select id, ${sql.join(narrowing)}, row_number() over (order by id desc) = ${most} as is_last
      from billing.webhook_calls ${behind} order by id desc limit ${most}
    ), looked_at as (
      select id, is_last, (${fits}) as is_hit from scanned
    )
    select id, is_hit, is_last from looked_at where is_hit or is_last
    order by id desc`.execute(db)
  return {
    hits: rows.filter((row) => row.is_hit).map(({ id }) => id),
    last: rows.find((row) => row.is_last)?.id,
  }
}
