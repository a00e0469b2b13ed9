import { sql, type Kysely, type Selectable } from 'kysely'
import type { ReceivedCall, WebhookCall } from '../events/webhook-call.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
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

/**
 * Notes on a call what was claimed for it after it had ended; in the form of `finishCalls`. Nothing
 * where the call has been pruned.
 */
export async function addClaim(db: Kysely<Tables>, call: string, dedupKey: string): Promise<void> {
  await sql`
    update billing.webhook_calls set dedup_claims = dedup_claims || ${JSON.stringify([dedupKey])}::jsonb
    where id = ${call}::uuid`.execute(db)
}

/** Keys of the events that a call claimed, in any of its runs. */
export function claimsOf({
  dedup_claims: claims,
}: Pick<Selectable<WebhookCallsTable>, 'dedup_claims'>): readonly string[] {
  return [...new Set(JSON.parse(claims) as readonly string[])].toSorted()
}

/** A stretch of calls by their ids, which begin with the time. */
interface CallStretch {
  /** The smallest id of it. */
  readonly from: string
  /** All of its ids are smaller; undefined: it ends with the newest. */
  readonly before: string | undefined
  /** How many at most, from the newest on. */
  readonly rows: number
}

interface LookedAtCall {
  readonly id: string
  readonly isHit: boolean
}

/**
 * Looks whether the stored payloads of a stretch contain one of the texts, as they are. Newest first;
 * fewer than `rows` are the last of the stretch.
 */
export async function lookInsideCalls(
  db: Kysely<Tables>,
  { from, before, rows: most }: CallStretch,
  texts: readonly string[],
): Promise<readonly LookedAtCall[]> {
  const behind = before === undefined ? sql`` : sql`and id < ${before}::uuid`
  const contains = texts.map((text) => sql`strpos(payload::text, ${text}) > 0`)
  const { rows } = await sql<{ id: string; is_hit: boolean }>`
    select id, coalesce(${sql.join(contains, sql` or `)}, false) as is_hit
    from (
      select id, payload from billing.webhook_calls
      where id >= ${from}::uuid ${behind} order by id desc limit ${most}
    ) as looked_at
    order by id desc`.execute(db)
  return rows.map(({ id, is_hit: isHit }) => ({ id, isHit }))
}
