import type { Kysely } from 'kysely'
import { openReviews, type ReviewFinding } from '../database/reviews.ts'
import type { Tables } from '../database/tables.ts'
import { assertNever } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { refundReferenceOf, type Outcome, type PaymentReference } from '../payments/outcome.ts'
import { isReviewReason, type ReviewReason } from '../payments/reasons.ts'
import type { StatedMoney } from '../payments/review.ts'
import type { Applied, Entry } from './applied.ts'

/** What became of an outcome, with the outcome. */
export interface SaidOutcome {
  readonly entry: Entry
  readonly applied: Applied
}

/**
 * Writes down what a person must look at. Returns what became of each outcome, and what of it a
 * person has looked at before.
 */
export async function reviewFlagged(
  db: Kysely<Tables>,
  said: readonly (readonly SaidOutcome[])[],
  newId: NewId,
): Promise<readonly (readonly Applied[])[]> {
  const flagged = said.flat().filter(({ applied }) => applied.review)
  const reviews = await openReviews(db, flagged.map(findingOf), newId)
  const handled = new Set(flagged.filter((_, at) => reviews[at]?.state === 'handled'))
  return said.map((ofOne) =>
    ofOne.map((one) => (handled.has(one) ? { ...one.applied, isHandled: true } : one.applied)),
  )
}

function findingOf(said: SaidOutcome): ReviewFinding {
  const { entry, applied } = said
  const { report, outcome } = entry
  const { payment, expected = payment } = applied
  const reason = reasonOf(said)
  const detail = detailOf(applied)
  return {
    gateway: report.gateway,
    reason,
    detail: detail === reason ? undefined : detail,
    paymentId: payment?.id,
    callId: report.callId,
    stated: { reference: referenceOf(outcome), ...moneyOf(outcome) },
    expected: expected && { amount: expected.amount, currency: expected.currency },
  }
}

function detailOf(applied: Applied): string | undefined {
  return applied.kind === 'claim' ? applied.detail : applied.result.detail
}

function reasonOf({ entry: { outcome }, applied }: SaidOutcome): ReviewReason {
  if (outcome.type === 'dispute' && isOfDispute(applied)) {
    return outcome.status === 'lost' ? 'dispute_lost' : 'dispute_open'
  }
  if (applied.kind === 'ignored') return applied.result.reason
  const detail = detailOf(applied)
  if (isReviewReason(detail)) return detail
  // Whatever else is marked was overtaken by a payment: blocked money was released.
  return 'already_paid'
}

/** The dispute itself is what a person must see; not that somebody else's is none of ours. */
function isOfDispute(applied: Applied): boolean {
  return applied.kind !== 'ignored' || applied.result.reason === 'already_settled'
}

/** How the provider names what it speaks of. */
function referenceOf(outcome: Outcome): string | null {
  switch (outcome.type) {
    case 'payment':
      return outcome.providerReference ?? outcome.checkoutReference ?? textOf(outcome.payment)
    case 'refund':
      return refundReferenceOf(outcome) ?? textOf(outcome.payment)
    case 'dispute':
    case 'payment_method':
    case 'subscription':
    case 'invoice':
      return outcome.reference
    case 'ignored': {
      const { payment, claimed } = outcome
      return payment === undefined ? (claimed?.id ?? null) : textOf(payment)
    }
    default:
      return assertNever(outcome)
  }
}

function textOf(payment: PaymentReference): string {
  if ('id' in payment) return payment.id
  return 'checkoutReference' in payment ? payment.checkoutReference : payment.providerReference
}

function moneyOf(outcome: Outcome): Pick<StatedMoney, 'amount' | 'currency'> {
  if (!('amount' in outcome || 'refundedTotal' in outcome)) return { amount: null, currency: null }
  const amount = 'refundedTotal' in outcome ? outcome.refundedTotal : outcome.amount
  return { amount: amount ?? null, currency: outcome.currency ?? null }
}
