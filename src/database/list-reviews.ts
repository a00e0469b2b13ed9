import type { Kysely, Selectable } from 'kysely'
import type { FilterValues } from '../kernel/noun.ts'
import { reviewFilters, type Review } from '../payments/review.ts'
import { reviewOf } from '../wire/review.ts'
import { conditionsOf } from './conditions.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import type { ReviewsTable } from './review-tables.ts'
import type { Tables } from './tables.ts'

/** Which reviews to list; all of them if left out. */
export interface ReviewsQuery extends PageQuery, FilterValues<typeof reviewFilters> {}

/** By id, which begins with the time. */
export async function listReviews(db: Kysely<Tables>, query: ReviewsQuery): Promise<Page<Review>> {
  const conditions = conditionsOf(reviewFilters, query)
  const rows = await db
    .selectFrom('billing.reviews')
    .selectAll()
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id'))
    .execute()
  return toPage(rows.map(toReview), query, ({ createdAt, id }) => ({ at: createdAt, id }))
}

/** Locked until the transaction ends, if that is asked for. */
export async function findReview(
  db: Kysely<Tables>,
  id: string,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<Review | undefined> {
  const select = db.selectFrom('billing.reviews').selectAll().where('id', '=', id)
  const row = await (isLocked ? select.forUpdate() : select).executeTakeFirst()
  return row && toReview(row)
}

/** The reviews of a charge, oldest first. */
export async function reviewsOf(db: Kysely<Tables>, paymentId: string): Promise<readonly Review[]> {
  const rows = await db
    .selectFrom('billing.reviews')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .execute()
  return rows.map(toReview)
}

/** The newest ones, newest first. */
export async function newestReviewsOf(
  db: Kysely<Tables>,
  paymentId: string,
  limit: number,
): Promise<readonly Review[]> {
  const rows = await db
    .selectFrom('billing.reviews')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toReview)
}

function toReview(row: Selectable<ReviewsTable>): Review {
  const { expected_amount: amount, expected_currency: currency } = row
  return reviewOf({
    id: row.id,
    gateway: row.gateway,
    reason: row.reason,
    detail: row.detail,
    paymentId: row.payment_id,
    periodId: row.period_id,
    subscriptionId: row.subscription_id,
    webhookCallId: row.webhook_call_id,
    stated: {
      reference: row.stated_reference,
      amount: row.stated_amount,
      currency: row.stated_currency,
    },
    expected: amount === null || currency === null ? null : { amount, currency },
    times: row.times,
    state: row.state,
    operator: row.operator,
    note: row.note,
    version: row.version,
    createdAt: row.created_at,
    lastAt: row.last_at,
    handledAt: row.handled_at,
  })
}
