import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { FilterValues } from '../kernel/noun.ts'
import { paymentFilters, type Payment } from '../payments/payment.ts'
import { conditionsOf } from './conditions.ts'
import {
  cursorOf,
  pageLimit,
  readCursor,
  toPage,
  type Page,
  type PageQuery,
  type Position,
} from './page.ts'
import { keysSought } from './payment-keys.ts'
import { findPayments, toPayment } from './payments.ts'
import { scanWindows, type Window, type WindowOf } from './scan-windows.ts'
import type { PaymentsTable, Tables } from './tables.ts'

/** Which charges to list: those that fit all of it; all of them if left out. */
export interface PaymentsQuery extends PageQuery, FilterValues<typeof paymentFilters> {}

/** These have columns of their own; the others are keys. */
const { payable: _payable, customer: _customer, ...ofColumns } = paymentFilters

/**
 * Charges, newest first. What is looked up by a key is few; of a gateway or a status there may be few
 * among very many others: they are looked for among so many payments, and a page may be short, or empty,
 * although there is a next one.
 */
export async function listPayments(
  db: Kysely<Tables>,
  query: PaymentsQuery,
): Promise<Page<Payment>> {
  const { payable, customer, gateway, status } = query
  const isKeyed = payable !== undefined || customer !== undefined
  const mustScan = !isKeyed && (gateway !== undefined || status !== undefined)
  return mustScan ? scanPayments(db, query) : lookUpPayments(db, query)
}

async function scanPayments(db: Kysely<Tables>, query: PaymentsQuery): Promise<Page<Payment>> {
  const from = readCursor(query.cursor)
  const { hits, next } = await scanWindows(pageLimit(query), from, (window) =>
    readWindow(db, query, window),
  )
  const found = await findPayments(
    db,
    hits.map(({ id }) => id),
  )
  const data = hits.flatMap(({ id }) => found.get(id) ?? [])
  return { data, nextCursor: next === undefined ? null : cursorOf(next) }
}

async function readWindow(
  db: Kysely<Tables>,
  query: PaymentsQuery,
  { after, rows: most }: WindowOf<Position>,
): Promise<Window<Position>> {
  const behind =
    after === undefined ? sql`` : sql`where (created_at, id) < (${after.at}, ${after.id}::uuid)`
  const fits = sql.join([isCharge, ...conditionsOf(ofColumns, query)], sql` and `)
  const { rows } = await sql<Position & { isHit: boolean; isLast: boolean }>`
    with scanned as materialized (
      select id, created_at, type, gateway, status,
        row_number() over (order by created_at desc, id desc) = ${most} as is_last
      from billing.payments ${behind} order by created_at desc, id desc limit ${most}
    ), looked_at as (
      select id, created_at as at, is_last as "isLast", ${fits} as "isHit"
      from scanned
    )
    select id, at, "isLast", "isHit" from looked_at where "isHit" or "isLast"
    order by at desc, id desc`.execute(db)
  return {
    hits: rows.filter(({ isHit }) => isHit),
    last: rows.find(({ isLast }) => isLast),
  }
}

async function lookUpPayments(db: Kysely<Tables>, query: PaymentsQuery): Promise<Page<Payment>> {
  const limit = pageLimit(query)
  const { from, at, id, conditions } = among(keysSought(query))
  const { rows } = await sql<Selectable<PaymentsTable>>`
    select payment.* from ${from}
    where ${sql.join([...conditions, ...filters(query, { at, id })], sql` and `)}
    order by ${at} desc, ${id} desc limit ${limit + 1}`.execute(db)
  return toPage(rows.map(toPayment), query, (payment) => ({
    at: payment.createdAt,
    id: payment.id,
  }))
}

/** The columns that a list is ordered by; an index has them in this order. */
interface Place {
  readonly at: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
}

type Among = Place & {
  readonly from: RawBuilder<unknown>
  readonly conditions: readonly RawBuilder<unknown>[]
}

/** All payments, or those that have each of these keys. */
function among([key, ...others]: readonly Buffer[]): Among {
  if (key === undefined) {
    return {
      from: sql`billing.payments as payment`,
      at: sql`payment.created_at`,
      id: sql`payment.id`,
      conditions: [],
    }
  }
  const hasOther = (other: Buffer) => sql`exists (
    select from billing.payment_keys as other where other.key = ${other}
      and (other.created_at, other.payment_id) = (place.created_at, place.payment_id))`
  return {
    from: sql`billing.payment_keys as place
      join billing.payments as payment on payment.id = place.payment_id`,
    at: sql`place.created_at`,
    id: sql`place.payment_id`,
    conditions: [sql`place.key = ${key}`, ...others.map(hasOther)],
  }
}

const isCharge = sql`type = 'charge'`

function filters(query: PaymentsQuery, { at, id }: Place): readonly RawBuilder<unknown>[] {
  const after = readCursor(query.cursor)
  return [
    isCharge,
    ...conditionsOf(ofColumns, query),
    ...(after === undefined ? [] : [sql`(${at}, ${id}) < (${after.at}, ${after.id}::uuid)`]),
  ]
}
