import { openReviews, type ReviewFinding } from '../database/reviews.ts'
import { assertNever } from '../kernel/errors.ts'
import { refundReferenceOf, type Outcome, type PaymentReference } from '../payments/outcome.ts'
import { isReviewReason, type ReviewReason } from '../payments/reasons.ts'
import type { StatedMoney } from '../payments/review.ts'
import type { Applied, Entry } from './applied.ts'
import type { Follower } from './follower.ts'

/** What became of an outcome, with the outcome. */
interface SaidOutcome {
  readonly entry: Entry
  readonly applied: Applied
}

/** Writes down what a person must look at. It marks results that a person has handled before. */
export const reviewFlagged: Follower = async (db, { entries, results }, { newId }) => {
  const said = entries.flatMap((entry) =>
    // Stryker disable next-line ArrayDeclaration: each entry has its results
    (results.get(entry) ?? []).map((applied) => ({ entry, applied })),
  )
  const flagged = said.filter(({ applied }) => applied.review)
  if (flagged.length === 0) return {}
  const reviews = await openReviews(db, flagged.map(findingOf), newId)
  const handled = new Set(
    flagged.flatMap(({ applied }, at) => (reviews[at]?.state === 'handled' ? [applied] : [])),
  )
  if (handled.size === 0) return {}
  const marked = Array.from(results, ([entry, all]) => {
    const own = all.map((one) => (handled.has(one) ? { ...one, isHandled: true as const } : one))
    return [entry, own] as const
  })
  return { results: new Map(marked) }
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
