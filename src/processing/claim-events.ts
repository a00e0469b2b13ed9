import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent, EventSource } from '../events/catalogue.ts'
import type { NewId } from '../kernel/ids.ts'
import { subjectIds, type Claim } from './applied.ts'
import type { ListenerRegistry } from './listeners.ts'

/** Where an event comes from. */
export interface DispatchSource {
  readonly cause: EventSource
  readonly callId: string | null
  /** Queue of the deliveries to queued listeners. */
  readonly queue: string
}

export interface SourcedClaim {
  readonly claim: Claim
  readonly source: DispatchSource
}

interface SourcedEvent {
  readonly event: BillingEvent
  readonly source: DispatchSource
}

interface Claiming {
  readonly listeners: ListenerRegistry
  readonly newId: NewId
}

/**
 * Takes the claims, in the order of their keys so that two transactions never wait for each other,
 * and writes the deliveries to queued listeners. Returns the events of those claims that nobody had
 * before, in the same order.
 */
export async function claimEvents(
  db: Kysely<Tables>,
  claims: readonly SourcedClaim[],
  claiming: Claiming,
): Promise<readonly BillingEvent[]> {
  if (claims.length === 0) return []
  const ordered = claims.toSorted(byKey)
  const subjects = ordered.map(({ claim }) => subjectIds(claim.subject))
  const { rows } = await sql<{ id: string; created_at: Date }>`
    insert into billing.events
      (id, dedup_key, type, payment_id, payment_method_id, webhook_call_id, source)
    select * from unnest(
      ${ordered.map(({ claim }) => claim.eventId)}::uuid[],
      ${ordered.map(({ claim }) => claim.dedupKey)}::text[],
      ${ordered.map(({ claim }) => claim.type)}::text[],
      ${subjects.map(({ paymentId }) => paymentId)}::uuid[],
      ${subjects.map(({ paymentMethodId }) => paymentMethodId)}::uuid[],
      ${ordered.map(({ source }) => source.callId)}::uuid[],
      ${ordered.map(({ source }) => source.cause)}::text[])
    on conflict (dedup_key) do nothing
    returning id, created_at`.execute(db)
  const createdAt = new Map(rows.map((row) => [row.id, row.created_at]))
  const events = ordered.flatMap(({ claim, source }) => {
    const at = createdAt.get(claim.eventId)
    return at === undefined ? [] : [{ event: toEvent(claim, at), source }]
  })
  await queueDeliveries(db, events, claiming)
  return events.map(({ event }) => event)
}

async function queueDeliveries(
  db: Kysely<Tables>,
  events: readonly SourcedEvent[],
  { listeners, newId }: Claiming,
): Promise<void> {
  const rows = events.flatMap(({ event, source }) =>
    listeners
      .of(event.type)
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

function toEvent({ eventId, type, dedupKey, subject }: Claim, createdAt: Date): BillingEvent {
  return { id: eventId, type, dedupKey, createdAt, ...subject } as BillingEvent
}

function byKey(a: SourcedClaim, b: SourcedClaim): number {
  return a.claim.dedupKey < b.claim.dedupKey ? -1 : 1
}
