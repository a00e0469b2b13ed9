import { sql, type Kysely } from 'kysely'
import type { PaymentActivity } from '../payments/activity.ts'
import type { Tables } from './tables.ts'

export interface NewActivity extends Pick<
  PaymentActivity,
  'operation' | 'result' | 'detail' | 'durationMs'
> {
  readonly id: string
  readonly paymentId: string
}

/** One that is like the last one of its payment is counted there. */
export async function recordActivity(
  db: Kysely<Tables>,
  { id, paymentId, operation, result, detail, durationMs }: NewActivity,
): Promise<void> {
  const isSame = sql`operation = ${operation} and result = ${result}
    and detail is not distinct from ${detail}`
  const latest = sql`(
    select id, operation, result, detail from billing.payment_activity
    where payment_id = ${paymentId}::uuid order by id desc limit 1) as latest`
  await sql`
    with repeated as (
      update billing.payment_activity
      set times = times + 1, duration_ms = ${durationMs}, updated_at = statement_timestamp()
      where id = (select id from ${latest} where ${isSame})
    )
    insert into billing.payment_activity (id, payment_id, operation, result, detail, duration_ms)
    select ${id}::uuid, ${paymentId}::uuid, ${operation}, ${result}, ${detail}, ${durationMs}::int
    where not exists (select from ${latest} where ${isSame})`.execute(db)
}

/** The last ones; a provider whose answers alternate would make more. */
const mostShown = 100

/** Oldest first. */
export async function listActivity(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly PaymentActivity[]> {
  const { rows } = await sql<PaymentActivity>`
    select operation, result, detail, times, duration_ms as "durationMs",
      created_at as "firstAt", updated_at as "lastAt"
    from billing.payment_activity where payment_id = ${paymentId}::uuid
    order by id desc limit ${mostShown}`.execute(db)
  return rows.toReversed()
}
