import { sql, type Kysely, type Selectable } from 'kysely'
import { openReviews, type ReviewFinding } from '../database/reviews.ts'
import type { Tables, WebhookCallsTable } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { isReviewReason, type ReviewReason } from '../payments/review.ts'

/**
 * Writes down that a person must look at these calls: they have failed, or are marked. Of what was
 * stated only the outcome is known, so each call is a matter of its own.
 */
export async function reviewCalls(
  db: Kysely<Tables>,
  ids: readonly string[],
  newId: NewId,
): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await sql<EndedCall>`
    select id, gateway, state, exception, outcome, payment_id, awaiting
    from billing.webhook_calls where id = any(${[...ids]}::uuid[]) order by id`.execute(db)
  await openReviews(db, rows.map(findingOf), newId)
}

type EndedCall = Pick<
  Selectable<WebhookCallsTable>,
  'id' | 'gateway' | 'state' | 'exception' | 'outcome' | 'payment_id' | 'awaiting'
>

/**
 * Ended calls that a person must look at and that no open review is about: an older version marked
 * them, or gave them up, beside this one or before there were reviews. The table is called `call`.
 */
export const lacksReview = sql`call.state in ('processed', 'ignored', 'failed') and (
  call.needs_review and not exists (
    select from billing.review_calls as link join billing.reviews as review
      on review.id = link.review_id
    where link.call_id = call.id and review.state = 'open')
  or call.state = 'failed' and not exists (
    select from billing.review_calls as link where link.call_id = call.id))`

function findingOf(call: EndedCall): ReviewFinding {
  const { id, gateway, payment_id: paymentId } = call
  return { gateway, paymentId, callId: id, isOfCall: true, isNews: true, ...factsOf(call) }
}

function factsOf({ state, exception, outcome, awaiting }: EndedCall) {
  if (state === 'failed') {
    return { reason: 'call_failed', detail: exception?.split('\n', 1)[0] } as const
  }
  const results = outcome === null ? [] : (JSON.parse(outcome) as readonly OutcomeResult[])
  const [first] = results.flatMap((one) => {
    const reason = reasonOf(one)
    return reason === undefined ? [] : [{ reason, detail: one.detail }]
  })
  if (first === undefined) return { reason: 'call_marked' } as const
  const { reason, detail } = first
  const stated = { reference: reason === 'unknown_payment' ? awaiting : null }
  return { reason, detail: detail === reason ? undefined : detail, stated }
}

function reasonOf(one: OutcomeResult): ReviewReason | undefined {
  if (one.type === 'dispute:lost') return 'dispute_lost'
  if (one.type.startsWith('dispute:')) return 'dispute_open'
  if ('reason' in one) return one.reason
  return isReviewReason(one.detail) ? one.detail : undefined
}
