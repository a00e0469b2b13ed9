import { sql, type Kysely, type RawBuilder } from 'kysely'
import { missingListeners } from '../database/missing-listeners.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent, EventSource } from '../events/catalogue.ts'
import type { NewId } from '../kernel/ids.ts'
import { subjectIds, type Claim } from '../outcomes/applied.ts'
import { listenerMissing, type ListenerRegistry } from './listeners.ts'

/** Where events come from. */
export interface ClaimSource {
  readonly cause: EventSource
  readonly callId: string | null
  /** Queue of the deliveries to queued listeners. */
  readonly queue: string
}

/** What one source claims. */
export interface SourceClaims {
  readonly source: ClaimSource
  readonly claims: readonly Claim[]
}

interface SourcedClaim {
  readonly source: ClaimSource
  readonly claim: Claim
}

interface SourcedEvent {
  readonly source: ClaimSource
  readonly event: BillingEvent
}

interface ClaimContext {
  readonly listeners: ListenerRegistry
  readonly newId: NewId
  /**
   * This transaction has claimed before. It was entitled then, and its work is older than any
   * listener that has been registered since.
   */
  readonly isEntitled: boolean
}

interface ClaimedRow {
  readonly id: string
  readonly created_at: Date
}

/**
 * Takes the claims, in the order of their keys so that two transactions never deadlock, and writes
 * the deliveries to queued listeners. Returns the events of the claims that are new, in the same
 * order. Error: `listener_missing`, and nothing is claimed; the claiming statement itself checks,
 * so that no listener can be registered in between.
 */
export async function claimEvents(
  db: Kysely<Tables>,
  sources: readonly SourceClaims[],
  context: ClaimContext,
): Promise<readonly BillingEvent[]> {
  const ordered = sources.flatMap(claimsOf).toSorted(byKey)
  if (ordered.length === 0) return []
  const subjects = ordered.map(({ claim }) => subjectIds(claim.subject))
  const insert = (condition: RawBuilder<unknown>) => sql`
    insert into billing.events
      (id, dedup_key, type, payment_id, payment_method_id, webhook_call_id, source, superseded)
    select * from unnest(
      ${ordered.map(({ claim }) => claim.eventId)}::uuid[],
      ${ordered.map(({ claim }) => claim.dedupKey)}::text[],
      ${ordered.map(({ claim }) => claim.type)}::text[],
      ${subjects.map(({ paymentId }) => paymentId)}::uuid[],
      ${subjects.map(({ paymentMethodId }) => paymentMethodId)}::uuid[],
      ${ordered.map(({ source }) => source.callId)}::uuid[],
      ${ordered.map(({ source }) => source.cause)}::text[],
      ${ordered.map(({ claim }) => claim.superseded === true)}::boolean[])
    ${condition}
    on conflict (dedup_key) do nothing
    returning id, created_at`
  const rows = await insertEntitled(db, insert, context)
  const createdAt = new Map(rows.map((row) => [row.id, row.created_at]))
  const events = ordered.flatMap(({ claim, source }) => {
    const at = createdAt.get(claim.eventId)
    return at === undefined ? [] : [{ event: toEvent(claim, at), source }]
  })
  await queueDeliveries(db, events, context)
  return events.map(({ event }) => event)
}

/** The first claim of a transaction also checks: nothing is inserted if a listener is missing. */
async function insertEntitled(
  db: Kysely<Tables>,
  insert: (condition: RawBuilder<unknown>) => RawBuilder<unknown>,
  { listeners, isEntitled }: ClaimContext,
): Promise<readonly ClaimedRow[]> {
  if (isEntitled) return (await sql<ClaimedRow>`${insert(sql``)}`.execute(db)).rows
  const { rows } = await sql<ClaimedRow & { readonly missing: string | null }>`
    with missing as materialized (${missingListeners(listeners.keys())}),
    claimed as (${insert(sql`where not exists (select from missing)`)})
    select id, created_at, null as missing from claimed
    union all select null, null, name || ' (' || type || ')' from missing`.execute(db)
  const missing = rows.flatMap((row) => row.missing ?? [])
  if (missing.length > 0) throw listenerMissing(missing.toSorted())
  return rows
}

async function queueDeliveries(
  db: Kysely<Tables>,
  events: readonly SourcedEvent[],
  { listeners, newId }: ClaimContext,
): Promise<void> {
  const rows = events.flatMap(({ event, source }) =>
    listeners
      .of(event)
      .filter(({ queued }) => queued)
      .map(({ name }) => ({
        id: newId(),
        event_id: event.id,
        listener: name,
        queue: source.queue,
      })),
  )
  if (rows.length > 0) await db.insertInto('billing.deliveries').values(rows).execute()
}

function toEvent(claim: Claim, createdAt: Date): BillingEvent {
  const { eventId: id, type, dedupKey, superseded = false, subject } = claim
  return { id, type, dedupKey, superseded, createdAt, ...subject } as BillingEvent
}

function claimsOf({ source, claims }: SourceClaims): readonly SourcedClaim[] {
  return claims.map((claim) => ({ source, claim }))
}

function byKey(a: SourcedClaim, b: SourcedClaim): number {
  return a.claim.dedupKey < b.claim.dedupKey ? -1 : 1
}
