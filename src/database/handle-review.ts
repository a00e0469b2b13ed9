import { sql, type Kysely } from 'kysely'
import type { Review } from '../payments/review.ts'
import { findReview } from './list-reviews.ts'
import { unmarkCalls } from './reviews.ts'
import type { Tables } from './tables.ts'

/** What a person says who has looked. */
export interface ReviewAnswer {
  readonly note: string
  readonly operator?: string | undefined
  /** That of the review which the person has seen: another one is a conflict. */
  readonly version?: number | undefined
}

/** `conflict`: it is not as the person has seen it, or another has handled it. */
export type HandledReview =
  | { readonly kind: 'handled'; readonly review: Review }
  | { readonly kind: 'conflict'; readonly review: Review }
  | { readonly kind: 'unknown' }

/**
 * Handles a review, in a transaction: its calls lose their mark. With the same content again nothing
 * changes. Payments are locked before reviews and these before calls, as wherever reports are applied.
 */
export async function handleReview(
  db: Kysely<Tables>,
  id: string,
  handling: ReviewAnswer,
): Promise<HandledReview> {
  const known = await findReview(db, id)
  if (known === undefined) return { kind: 'unknown' }
  const { paymentId } = known
  const polled = paymentId === null ? [] : await lockPolled(db, paymentId)
  const review = await findReview(db, id, { isLocked: true })
  if (review === undefined) return { kind: 'unknown' }
  const { operator = null, note, version = review.version } = handling
  if (review.state === 'handled') {
    const isSame = review.note === note && review.operator === operator
    return { kind: isSame ? 'handled' : 'conflict', review }
  }
  if (review.version !== version) return { kind: 'conflict', review }
  await sql`
    update billing.reviews set state = 'handled', operator = ${operator}, note = ${note},
      handled_at = statement_timestamp(), version = version + 1
    where id = ${id}::uuid`.execute(db)
  await unmarkCalls(db, [id])
  if (paymentId !== null) await unmarkPayment(db, paymentId, polled)
  const handled = await findReview(db, id)
  return handled === undefined ? { kind: 'unknown' } : { kind: 'handled', review: handled }
}

/** The payment and its refunds, where a poll has left a mark on them. */
async function lockPolled(db: Kysely<Tables>, paymentId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from billing.payments
    where (id = ${paymentId}::uuid or parent_id = ${paymentId}::uuid)
      and poll_error like 'needs a review: %'
    order by id for update`.execute(db)
  return rows.map(({ id }) => id)
}

/** Once no review of the payment is open. */
async function unmarkPayment(
  db: Kysely<Tables>,
  paymentId: string,
  polled: readonly string[],
): Promise<void> {
  if (polled.length === 0) return
  const open = await sql`
    select 1 from billing.reviews where payment_id = ${paymentId}::uuid and state = 'open'
    limit 1`.execute(db)
  if (open.rows.length > 0) return
  await sql`
    update billing.payments
    set poll_error = regexp_replace(poll_error, '^needs a review: ', 'looked at: ')
    where id = any(${[...polled]}::uuid[])`.execute(db)
}
