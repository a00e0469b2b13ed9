import { sql, type Kysely, type Selectable } from 'kysely'
import type { Payload } from '../gateways/body/payload.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import type { CallState, Tables, WebhookCallsTable } from './tables.ts'

/** A stored callback. One exists only if its signature was valid. */
export interface WebhookCall {
  readonly id: string
  readonly gateway: string
  readonly queue: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** How the body reads: as JSON, as form fields, or not at all. */
  readonly kind: Payload['kind']
  /** The JSON text as received, or the JSON object of a form's fields; null if unreadable. */
  readonly payload: string | null
  /** The exact bytes, kept only where `payload` does not carry them; null if encrypted. */
  readonly body: Uint8Array | null
  /** The exact bytes are kept encrypted: `payload` masks what they carry. */
  readonly bodyEncrypted: boolean
  readonly state: CallState
  readonly attempts: number
  readonly leasesLost: number
  readonly nextAttemptAt: Date
  readonly exception: string | null
  readonly outcome: readonly OutcomeResult[] | null
  readonly needsReview: boolean
  readonly paymentId: string | null
  readonly receivedAt: Date
  readonly processedAt: Date | null
  /** Keys of the events that this call claimed. */
  readonly dedupClaims: readonly string[]
}

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

type CallRow = Selectable<WebhookCallsTable> & { dedup_claims: string[] }

function selectCalls(db: Kysely<Tables>) {
  return db
    .selectFrom('billing.webhook_calls as call')
    .selectAll('call')
    .select(
      sql<string[]>`array(
        select dedup_key from billing.events where webhook_call_id = call.id order by dedup_key
      )`.as('dedup_claims'),
    )
}

export async function findCall(db: Kysely<Tables>, id: string): Promise<WebhookCall | undefined> {
  const row = await selectCalls(db).where('call.id', '=', id).executeTakeFirst()
  return row && toCall(row)
}

export async function listCalls(db: Kysely<Tables>, query: CallsQuery): Promise<Page<WebhookCall>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  let select = selectCalls(db)
    .orderBy('call.received_at', 'desc')
    .orderBy('call.id', 'desc')
    .limit(limit + 1)
  if (query.state !== undefined) select = select.where('state', '=', query.state)
  if (query.gateway !== undefined) select = select.where('gateway', '=', query.gateway)
  if (query.paymentId !== undefined) select = select.where('payment_id', '=', query.paymentId)
  if (query.needsReview !== undefined) select = select.where('needs_review', '=', query.needsReview)
  if (after !== undefined) {
    select = select.where(
      sql<boolean>`(call.received_at, call.id) < (${after.at}, ${after.id}::uuid)`,
    )
  }
  const rows = await select.execute()
  return toPage(rows.map(toCall), limit, (call) => ({ at: call.receivedAt, id: call.id }))
}

function toCall(row: CallRow): WebhookCall {
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
    dedupClaims: row.dedup_claims,
  }
}
