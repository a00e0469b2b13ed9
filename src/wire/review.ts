import { z } from 'zod'
import { inWords } from '../payments/review-words.ts'
import { reviewStates, type Review, type ReviewJson } from '../payments/review.ts'
import { amount, id, time } from './fields.ts'
import { withJson } from './with-json.ts'

/** Something that a person must look at. */
export const reviewSchema = z.strictObject({
  id,
  state: z.enum(reviewStates),
  /** A later version may know more of them. */
  reason: z.string(),
  detail: z.string().nullable(),
  /** The same for people; the wording may change. */
  in_words: z.string(),
  gateway: z.string(),
  payment_id: id.nullable(),
  period_id: id.nullable(),
  subscription_id: id.nullable(),
  webhook_call_id: id.nullable(),
  stated: z.strictObject({
    reference: z.string().nullable(),
    amount: amount.nullable(),
    currency: z.string().nullable(),
  }),
  expected: z.strictObject({ amount, currency: z.string() }).nullable(),
  times: z.int(),
  operator: z.string().nullable(),
  note: z.string().nullable(),
  version: z.int(),
  created_at: time,
  last_at: time,
  handled_at: time.nullable(),
})

export function reviewView(
  review: Omit<Review, 'toJSON'>,
): z.output<typeof reviewSchema> & ReviewJson {
  const { stated, expected } = review
  return {
    id: review.id,
    state: review.state,
    reason: review.reason,
    detail: review.detail,
    in_words: inWords(review),
    gateway: review.gateway,
    payment_id: review.paymentId,
    period_id: review.periodId,
    subscription_id: review.subscriptionId,
    webhook_call_id: review.webhookCallId,
    stated: { ...stated, amount: stated.amount === null ? null : Number(stated.amount) },
    expected: expected && { ...expected, amount: Number(expected.amount) },
    times: review.times,
    operator: review.operator,
    note: review.note,
    version: review.version,
    created_at: review.createdAt.toISOString(),
    last_at: review.lastAt.toISOString(),
    handled_at: review.handledAt?.toISOString() ?? null,
  }
}

/** A review from its data: a copy has no `toJSON`. */
export function reviewOf(data: Omit<Review, 'toJSON'>): Review {
  return withJson(data, reviewView)
}
