import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Payment } from '../payments/payment.ts'
import type { Target } from './applied.ts'
import { requeued } from './awaiting.ts'
import { released } from './released-money.ts'

/**
 * Puts back the calls that let blocked money go, of payments that were canceled by that and are paid
 * by now: what is gone had been taken, and each of these calls tells what that means. In the
 * transaction that pays, under the payments' locks.
 */
export async function requeueReleases(
  db: Kysely<Tables>,
  targets: readonly Target[],
  payments: ReadonlyMap<string, Payment>,
): Promise<void> {
  const late = targets.flatMap(({ payment: { id, status } }) =>
    status === 'canceled' && payments.get(id)?.status === 'paid' ? [id] : [],
  )
  if (late.length === 0) return
  await sql`
    update billing.webhook_calls as call set ${requeued}
    from billing.payment_transitions as moved
    where moved.payment_id = any(${late}::uuid[]) and moved.to_status = 'canceled'
      and call.id = moved.webhook_call_id and call.state = 'processed'
      and exists (select from json_array_elements(call.outcome) as one
        where one ->> 'detail' = ${released})`.execute(db)
}
