import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied, Step } from './applied.ts'
import type { Target } from './apply-payments.ts'
import { requeued } from './awaiting.ts'

/** Detail of a result: blocked money was let go, of a payment that nobody had paid by then. */
export const released = 'released'

type Payments = ReadonlyMap<string, Payment>

/**
 * Puts back the calls that let blocked money go, of payments that were canceled by that and are paid
 * by now: what is gone had been taken, and each of these calls tells what that means. In the
 * transaction that pays, under the payments' locks.
 */
export async function requeueReleases(
  db: Kysely<Tables>,
  targets: readonly Target[],
  payments: Payments,
): Promise<void> {
  const late = targets.filter(
    ({ payment }) => payment.status === 'canceled' && payments.get(payment.id)?.status === 'paid',
  )
  if (late.length === 0) return
  await sql`
    update billing.webhook_calls as call set ${requeued}
    from billing.payment_transitions as moved
    where moved.payment_id = any(${idsOf(late)}::uuid[]) and moved.to_status = 'canceled'
      and call.id = moved.webhook_call_id and call.state = 'processed'
      and exists (select from json_array_elements(call.outcome) as one
        where one ->> 'detail' = ${released})`.execute(db)
}

/**
 * The results with what a person should look at: a report that may not hold any more has paid what
 * was canceled. A call that is tried again is marked again; copies of it are not.
 */
export async function reviewLate(
  db: Kysely<Tables>,
  targets: readonly Target[],
  applied: ReadonlyMap<Step, Applied>,
): Promise<ReadonlyMap<Step, Applied>> {
  const doubtful = targets.filter(({ step, payment }) => isDoubtful(step, payment))
  if (doubtful.length === 0) return applied
  const { rows } = await sql<{ id: string; call: string | null }>`
    select payment_id as id, webhook_call_id as call from billing.payment_transitions
    where payment_id = any(${idsOf(doubtful)}::uuid[])
      and from_status = 'canceled' and to_status = 'paid'`.execute(db)
  const late = new Map(rows.map(({ id, call }) => [id, call]))
  const marked = new Map(applied)
  for (const { step, payment } of doubtful) {
    const result = applied.get(step)
    const isOwn = late.get(payment.id) === step.application.callId
    if (result?.kind !== 'claim' || !isOwn) continue
    marked.set(step, { ...result, review: true, detail: 'paid_after_cancel' })
  }
  return marked
}

/** What was pending, or declined, when it was reported as paid has not been canceled before. */
function isDoubtful({ outcome }: Step<PaymentOutcome>, { status }: Payment): boolean {
  return outcome.ifCanceled === 'review' && (status === 'canceled' || status === 'paid')
}

function idsOf(targets: readonly Target[]): string[] {
  return targets.map(({ payment }) => payment.id)
}
