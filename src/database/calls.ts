import type { Kysely, Selectable } from 'kysely'
import type { ReceivedCall, WebhookCall } from '../events/webhook-call.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { claimsOf } from './dedup-claims.ts'
import type { Tables, WebhookCallsTable } from './tables.ts'

/** What an encrypted body is bound to: it decrypts only as the body of this call. */
export function bodyContext(callId: string): string {
  return `webhook_calls/${callId}/body`
}

/** All that is read of a call, besides what was received. */
export const listedColumns = [
  'id',
  'gateway',
  'queue',
  'url',
  'headers',
  'kind',
  'body_encrypted',
  'state',
  'attempts',
  'leases_lost',
  'next_attempt_at',
  'exception',
  'outcome',
  'needs_review',
  'payment_id',
  'received_at',
  'processed_at',
  'dedup_claims',
] as const satisfies readonly (keyof WebhookCallsTable)[]

export type ListedRow = Pick<Selectable<WebhookCallsTable>, (typeof listedColumns)[number]>

export async function findCall(db: Kysely<Tables>, id: string): Promise<ReceivedCall | undefined> {
  const select = db
    .selectFrom('billing.webhook_calls')
    .select([...listedColumns, 'payload', 'body'])
  const row = await select.where('id', '=', id).executeTakeFirst()
  if (row === undefined) return undefined
  return { ...toCall(row), payload: row.payload, body: row.body_encrypted ? null : row.body }
}

/** The same without what was received. */
export async function findListedCall(
  db: Kysely<Tables>,
  id: string,
): Promise<WebhookCall | undefined> {
  const select = db.selectFrom('billing.webhook_calls').select(listedColumns)
  const row = await select.where('id', '=', id).executeTakeFirst()
  return row && toCall(row)
}

export function toCall(row: ListedRow): WebhookCall {
  return {
    id: row.id,
    gateway: row.gateway,
    queue: row.queue,
    url: row.url,
    headers: JSON.parse(row.headers) as Record<string, string>,
    kind: row.kind,
    bodyEncrypted: row.body_encrypted,
    state: row.state,
    attempts: row.attempts,
    leasesLost: row.leases_lost,
    nextAttemptAt: row.next_attempt_at,
    exception: row.exception,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as OutcomeResult[]),
    needsReview: row.needs_review,
    paymentId: row.payment_id,
    receivedAt: row.received_at,
    processedAt: row.processed_at,
    dedupClaims: claimsOf(row),
  }
}
