import { sql, type Kysely, type Selectable } from 'kysely'
import type { RefundRow } from '../payments/match-refund.ts'
import { toPayment } from './payments.ts'
import type { PaymentsTable, Tables } from './tables.ts'

/** The refunds of a charge, oldest first. */
export async function refundsOf(
  db: Kysely<Tables>,
  chargeId: string,
): Promise<readonly RefundRow[]> {
  const { rows } = await sql<Selectable<PaymentsTable> & { readonly claimed: boolean }>`
    select refund.*, exists (
      select from billing.events as event
      where event.payment_id = refund.id and event.type = 'PaymentRefunded') as claimed
    from billing.payments as refund
    where refund.parent_id = ${chargeId}
    order by refund.created_at, refund.id`.execute(db)
  return rows.map(({ claimed, ...row }) => ({ refund: toPayment(row), claimed }))
}
