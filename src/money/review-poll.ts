import { closeUnclear } from '../database/close-reviews.ts'
import { openReview } from '../database/reviews.ts'
import { isMarked, type Applied } from '../outcomes/applied.ts'
import type { Payment } from '../payments/payment.ts'
import type { MoneyContext } from './context.ts'
import { isLookedAt, isMarkedByPoll, lookedAt, oddityIn } from './poll-review.ts'

/** A poll whose outcomes are applied. */
interface OddPoll {
  /** As it was before. */
  readonly payment: Payment
  readonly applied: readonly Applied[]
  /** Why a person should look; undefined if nobody must. */
  readonly review: string | undefined
}

/**
 * Writes down that a person must look at what a poll found; what was wrong with its outcomes was
 * written with them. Returns what is noted on the payment: a person may have looked before.
 */
export async function reviewPoll(
  { payment, applied, review }: OddPoll,
  { processing: { database, newId } }: MoneyContext,
): Promise<string | undefined> {
  if (review === undefined) {
    const { pollError } = payment
    if (isMarkedByPoll(pollError) || isLookedAt(pollError)) {
      await closeUnclear(database.db, payment.id)
    }
    return undefined
  }
  const flagged = applied.filter((one) => one.kind === 'ignored' && one.review)
  if (flagged.length > 0) return flagged.some(isMarked) ? review : lookedAt(review)
  const { id, gateway } = payment
  const finding = { gateway, reason: 'poll_unclear', paymentId: id, callId: null } as const
  const { state } = await database.transaction(({ db }) =>
    openReview(db, { ...finding, detail: oddityIn(review) }, newId),
  )
  return state === 'open' ? review : lookedAt(review)
}
