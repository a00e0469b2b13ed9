import { sql, type Kysely, type Selectable } from 'kysely'
import { toPayment } from '../database/payments.ts'
import type { PaymentsTable, Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import { refundReferenceOf, type RefundOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Entry } from './applied.ts'

/**
 * Gives a refund's row the reported status and the provider's id, and writes its history. The rules
 * of the state table are repeated in SQL.
 */
export async function moveRefund(
  db: Kysely<Tables>,
  moved: {
    readonly entry: Entry<RefundOutcome>
    readonly refund: Payment
    readonly newId: NewId
  },
): Promise<Payment> {
  const { entry, refund, newId } = moved
  const { outcome, report } = entry
  const reference = refundReferenceOf(outcome)
  const { rows } = await sql<Selectable<PaymentsTable>>`
    with moved as (
      update billing.payments
      set status = ${outcome.status}, updated_at = statement_timestamp(),
        provider_reference = coalesce(provider_reference, ${reference})
      where id = ${refund.id} and type = 'refund' and status = ${refund.status} and (
        status = 'pending' or status = ${outcome.status}
        or (status = 'paid' and ${outcome.status} = 'failed'))
      returning *
    ), history as (
      insert into billing.payment_transitions
        (id, payment_id, payment_type, from_status, to_status, cause, webhook_call_id)
      select ${newId()}::uuid, id, type, ${refund.status}, status, ${report.cause},
        ${report.callId}::uuid
      from moved where status <> ${refund.status}
    )
    select * from moved`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`refund ${refund.id} refused to become ${outcome.status}`)
  return toPayment(row)
}
