import { sql, type Kysely } from 'kysely'
import { recordedReasons } from '../payments/reasons.ts'
import { serviceOperator } from './reviews.ts'
import type { Tables } from './tables.ts'

/**
 * Closes the reviews of calls that are processed again and do not say the same any more: the present
 * transaction has not opened these reviews. A review of a period stays open, because no call says
 * it twice, and so does a review of a recorded fact. Returns the calls that have an open review and
 * stay marked. Their reviews are locked, so no operator handles one before the transaction ends.
 * Call this before the calls' rows are locked.
 */
export async function closeUnsaid(
  db: Kysely<Tables>,
  callIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (callIds.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    update billing.reviews set ${closed('its callback was processed again, and needs nobody')}
    where id in (select review_id from billing.review_calls
        where call_id = any(${[...callIds]}::uuid[]))
      and state = 'open' and period_id is null and subscription_id is null
      and reason <> all(${[...recordedReasons]})
      and last_at < date_trunc('milliseconds', now())
    returning id`.execute(db)
  const { rows: left } = await sql<{ id: string }>`
    select link.call_id as id from billing.review_calls as link
      join billing.reviews as review on review.id = link.review_id
    where link.call_id = any(${[...callIds]}::uuid[]) and review.state = 'open'
    order by review.id for share of review`.execute(db)
  await unmarkCalls(
    db,
    rows.map(({ id }) => id),
  )
  return new Set(left.map(({ id }) => id))
}

/** Closes what polls of a payment could not understand: a later one did. */
export async function closeUnclear(db: Kysely<Tables>, paymentId: string): Promise<void> {
  await sql`
    update billing.reviews set ${closed('a later poll was understood')}
    where payment_id = ${paymentId}::uuid and reason = 'poll_unclear' and state = 'open'`.execute(
    db,
  )
}

function closed(note: string) {
  return sql`state = 'handled', operator = ${serviceOperator}, note = ${note},
    handled_at = statement_timestamp(), version = version + 1`
}

/** Takes the mark from calls of closed reviews, unless another review of them is open. */
export async function unmarkCalls(db: Kysely<Tables>, reviewIds: readonly string[]): Promise<void> {
  if (reviewIds.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select distinct link.call_id as id from billing.review_calls as link
    where link.review_id = any(${[...reviewIds]}::uuid[]) and not exists (
      select from billing.review_calls as other join billing.reviews as review
        on review.id = other.review_id
      where other.call_id = link.call_id and review.state = 'open')`.execute(db)
  if (rows.length === 0) return
  await sql`
    update billing.webhook_calls set needs_review = false
    where id = any(${rows.map(({ id }) => id)}::uuid[]) and needs_review`.execute(db)
}
