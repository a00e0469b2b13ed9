import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import { keysSought, type PaymentLookup } from './payment-keys.ts'
import { toPayment } from './payments.ts'
import type { PaymentsTable, Tables } from './tables.ts'

/** Which charges to list: those that fit all of it; all of them if left out. */
export interface PaymentsQuery extends PageQuery, PaymentLookup {
  readonly gateway?: string
  readonly status?: PaymentStatus
}

/** Charges, newest first. */
export async function listPayments(
  db: Kysely<Tables>,
  query: PaymentsQuery,
): Promise<Page<Payment>> {
  const limit = pageLimit(query)
  const { from, at, id, conditions } = among(keysSought(query))
  const { rows } = await sql<Selectable<PaymentsTable>>`
    select payment.* from ${from}
    where ${sql.join([...conditions, ...filters(query, { at, id })], sql` and `)}
    order by ${at} desc, ${id} desc limit ${limit + 1}`.execute(db)
  return toPage(rows.map(toPayment), limit, (payment) => ({
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

function filters(
  { gateway, status, cursor }: PaymentsQuery,
  { at, id }: Place,
): readonly RawBuilder<unknown>[] {
  const after = readCursor(cursor)
  return [
    sql`payment.type = 'charge'`,
    ...(gateway === undefined ? [] : [sql`payment.gateway = ${gateway}`]),
    ...(status === undefined ? [] : [sql`payment.status = ${status}`]),
    ...(after === undefined ? [] : [sql`(${at}, ${id}) < (${after.at}, ${after.id}::uuid)`]),
  ]
}
