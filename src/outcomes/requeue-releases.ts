import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentEntry } from './applied.ts'
import { requeued } from './awaiting.ts'
import { released } from './released-money.ts'

/**
 * Requeues the calls that released blocked money of payments that had ended unpaid and are paid by
 * now. The released money may have been charged, and each of these calls finds out what that means.
 * Runs in the transaction that pays, under the payments' locks.
 */
export async function requeueReleases(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  payments: ReadonlyMap<string, Payment>,
): Promise<void> {
  const ended = new Set(targets.filter(hadEnded).map(({ payment }) => payment.id))
  const late = [...payments.values()].flatMap(({ id, status }) =>
    status === 'paid' && ended.has(id) ? [id] : [],
  )
  if (late.length === 0) return
  await sql`
    update billing.webhook_calls as call set ${requeued}
    where call.payment_id = any(${late}::uuid[]) and call.state in ('processed', 'ignored')
      and exists (select from json_array_elements(call.outcome) as one
        where one ->> 'detail' = ${released})`.execute(db)
}

function hadEnded({ payment: { status } }: PaymentEntry): boolean {
  return status === 'failed' || status === 'canceled'
}
