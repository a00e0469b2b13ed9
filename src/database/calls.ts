import { sql, type Kysely, type Selectable } from 'kysely'
import type { CallState, WebhookCall } from '../events/webhook-call.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { readClaims } from './dedup-claims.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import type { Tables, WebhookCallsTable } from './tables.ts'

/** What an encrypted body is bound to: it decrypts only as the body of this call. */
export function bodyContext(callId: string): string {
  return `webhook_calls/${callId}/body`
}

/** Which calls to list; all of them if left out. */
export interface CallsQuery extends PageQuery {
  readonly state?: CallState
  readonly gateway?: string
  readonly needsReview?: boolean
  readonly paymentId?: string
}

type CallRow = Selectable<WebhookCallsTable>

export async function findCall(db: Kysely<Tables>, id: string): Promise<WebhookCall | undefined> {
  const select = db.selectFrom('billing.webhook_calls').selectAll()
  const [call] = await toCalls(db, await select.where('id', '=', id).execute())
  return call
}

/**
 * By id, which begins with the time. Those that failed or need a person are few among many, and have
 * indexes of their own, by time.
 */
export async function listCalls(db: Kysely<Tables>, query: CallsQuery): Promise<Page<WebhookCall>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const byTime = query.state === 'failed' || query.needsReview === true
  let select = db.selectFrom('billing.webhook_calls').selectAll()
  if (byTime) select = select.orderBy('received_at', 'desc')
  select = select.orderBy('id', 'desc').limit(limit + 1)
  if (query.state !== undefined) select = select.where('state', '=', query.state)
  if (query.gateway !== undefined) select = select.where('gateway', '=', query.gateway)
  if (query.paymentId !== undefined) select = select.where('payment_id', '=', query.paymentId)
  if (query.needsReview !== undefined) select = select.where('needs_review', '=', query.needsReview)
  if (after !== undefined) {
    select = select.where(
      byTime
        ? sql<boolean>`(received_at, id) < (${after.at}, ${after.id}::uuid)`
        : sql<boolean>`id < ${after.id}::uuid`,
    )
  }
  const calls = await toCalls(db, await select.execute())
  return toPage(calls, limit, (call) => ({ at: call.receivedAt, id: call.id }))
}

async function toCalls(
  db: Kysely<Tables>,
  rows: readonly CallRow[],
): Promise<readonly WebhookCall[]> {
  const claims = await readClaims(db, rows)
  return rows.map((row) => toCall(row, claims.get(row.id) ?? []))
}

function toCall(row: CallRow, dedupClaims: readonly string[]): WebhookCall {
  return {
    id: row.id,
    gateway: row.gateway,
    queue: row.queue,
    url: row.url,
    headers: JSON.parse(row.headers) as Record<string, string>,
    kind: row.kind,
    payload: row.payload,
    body: row.body_encrypted ? null : row.body,
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
    dedupClaims,
  }
}
