import { sql, type Kysely, type Selectable } from 'kysely'
import { openReviews, type ReviewFinding } from '../database/reviews.ts'
import type { Tables, WebhookCallsTable } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { OutcomeResult } from '../payments/outcome.ts'

/**
 * Opens a review of each call, in the transaction that ends or marks it. The call has failed, or it
 * names an unknown payment. Calls share no review: only their outcomes are stored, which do not say
 * whether two calls state the same.
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

function findingOf(call: EndedCall): ReviewFinding {
  const { id, gateway, payment_id: paymentId } = call
  return { gateway, paymentId, callId: id, isOfCall: true, isNews: true, ...factsOf(call) }
}

function factsOf({ state, exception, outcome, awaiting }: EndedCall) {
  if (state === 'failed') {
    return { reason: 'call_failed', detail: exception?.split('\n', 1)[0] } as const
  }
  const results = outcome === null ? [] : (JSON.parse(outcome) as readonly OutcomeResult[])
  const unknown = results.find((one) => 'reason' in one && one.reason === 'unknown_payment')
  const stated = { reference: awaiting }
  return { reason: 'unknown_payment', detail: unknown?.detail, stated } as const
}
