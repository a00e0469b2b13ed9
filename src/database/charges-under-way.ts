import { sql, type Kysely } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

/** Whether a charge of this saved card began so recently and has no answer yet. */
export async function hasChargeUnderWay(
  db: Kysely<Tables>,
  paymentMethodId: string,
  within: Duration,
): Promise<boolean> {
  const { rows } = await sql`
    select from billing.payments
    where created_at > statement_timestamp() - ${interval(within)}
      and payment_method_id = ${paymentMethodId}::uuid
      and checkout = 'unknown' and operation_error is null
    limit 1`.execute(db)
  return rows.length > 0
}
