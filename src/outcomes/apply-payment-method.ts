import type { Kysely } from 'kysely'
import { upsertPaymentMethod } from '../database/payment-methods.ts'
import type { Tables } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { namesOfCard, paymentMethodEventType } from '../events/dedup-key.ts'
import type { PaymentMethodOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { accountMismatch } from '../payments/transition.ts'
import { writingOf } from './follow-periods.ts'
import { useSavedCard } from './use-saved-card.ts'
import { ignoredResult, type Applied, type ApplyContext, type Entry } from './applied.ts'

interface AttachedTo extends ApplyContext {
  /** The payment with which it was saved, if there is one. */
  readonly payment: Payment | undefined
}

/**
 * Records a card that was saved or removed. Its token is stored encrypted, while the card is saved.
 */
export async function applyPaymentMethod(
  db: Kysely<Tables>,
  { report, outcome }: Entry<PaymentMethodOutcome>,
  { payment, ...applying }: AttachedTo,
): Promise<Applied> {
  const { newId, cipher } = applying
  const { gateway } = report
  const { status, reference, token, live = payment?.live ?? undefined } = outcome
  const reason = payment && accountMismatch(payment, gateway, outcome)
  if (reason !== undefined) return ignoredResult({ type: 'payment_method', reason, payment })
  const encrypted =
    token && cipher?.encrypt(Buffer.from(token.reveal()), tokenContext(gateway, reference))
  const method = await upsertPaymentMethod(db, {
    id: newId(),
    gateway,
    outcome: { ...outcome, ...(live !== undefined && { live }) },
    paymentId: payment?.id ?? null,
    token: status === 'attached' ? (encrypted ?? null) : null,
  })
  if (method.status !== status) {
    return ignoredResult({ type: 'payment_method', reason: 'already_settled', payment })
  }
  if (payment !== undefined) {
    const writing = writingOf(report, newId)
    await useSavedCard(db, { payment, method, writing }, applying)
  }
  const type = paymentMethodEventType(status)
  return {
    kind: 'claim',
    type: `payment_method:${status}`,
    payment,
    review: false,
    claim: {
      eventId: newId(),
      dedupKey: dedupKey(type, namesOfCard(method)),
      type,
      subject: { paymentMethod: method },
    },
  }
}

/** Ties an encrypted token to its row: copied into another row, it does not decrypt. */
export function tokenContext(gateway: string, reference: string): string {
  return `payment_methods/${gateway}/${reference}/token`
}
