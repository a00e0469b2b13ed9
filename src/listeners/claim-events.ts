import { sql, type Kysely } from 'kysely'
import { missingListeners } from '../database/missing-listeners.ts'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent, EventSource } from '../events/catalogue.ts'
import type { OpenSpan } from '../kernel/spans.ts'
import { subjectIds, type Claim } from '../outcomes/applied.ts'
import type { CommitGuard } from './commit-guard.ts'
import { listenerMissing, type ListenerRegistry } from './listeners.ts'

/** Where events come from. */
export interface ClaimSource {
  readonly cause: EventSource
  readonly callId: string | null
  /** Queue of the deliveries to queued listeners. */
  readonly queue: string
  /** What its events are dispatched in; none without a tracer, or without a call. */
  readonly span?: OpenSpan | undefined
}

/** What one source claims. */
export interface SourceClaims {
  readonly source: ClaimSource
  readonly claims: readonly Claim[]
}

interface ClaimContext {
  readonly listeners: ListenerRegistry
  /** Undefined if no listener runs in this transaction: then nobody else can commit it. */
  readonly guard: CommitGuard | undefined
}

interface ClaimedRow {
  readonly id: string
  readonly created_at: Date
  readonly missing: string | null
}

/**
 * Takes the claims, in the order of their keys so that two transactions never deadlock. Returns the
 * events of the claims that are new, by id. Error: `listener_missing`, and nothing is claimed; the
 * claiming statement itself checks, so that no listener can be registered in between.
 */
export async function claimEvents(
  db: Kysely<Tables>,
  sources: readonly SourceClaims[],
  { listeners, guard }: ClaimContext,
): Promise<ReadonlyMap<string, BillingEvent>> {
  const ordered = sources.flatMap(claimsOf).toSorted(byKey)
  if (ordered.length === 0) return new Map()
  const subjects = ordered.map(({ claim }) => subjectIds(claim.subject))
  const missingHere = missingListeners(listeners.keys())
  const { rows } = await sql<ClaimedRow>`${named('claim-events')}
    with guard as (
      insert into billing.commit_guards (id, key)
      select id, key from (values (${guard?.id ?? null}::uuid, ${guard?.key ?? null}::uuid))
        as guard (id, key) where id is not null),
    claimed as (
      insert into billing.events
        (id, dedup_key, type, payment_id, payment_method_id, subscription_id, invoice_id,
          webhook_call_id, source, superseded, data)
      select * from unnest(
        ${ordered.map(({ claim }) => claim.eventId)}::uuid[],
        ${ordered.map(({ claim }) => claim.dedupKey)}::text[],
        ${ordered.map(({ claim }) => claim.type)}::text[],
        ${subjects.map(({ paymentId }) => paymentId)}::uuid[],
        ${subjects.map(({ paymentMethodId }) => paymentMethodId)}::uuid[],
        ${subjects.map(({ subscriptionId }) => subscriptionId)}::uuid[],
        ${subjects.map(({ invoiceId }) => invoiceId)}::uuid[],
        ${ordered.map(({ source }) => source.callId)}::uuid[],
        ${ordered.map(({ source }) => source.cause)}::text[],
        ${ordered.map(({ claim }) => claim.superseded === true)}::boolean[],
        ${ordered.map(({ claim }) => JSON.stringify(claim.data ?? {}))}::jsonb[])
      where not exists (${missingHere})
      on conflict (dedup_key) do nothing
      returning id, created_at)
    select id, created_at, null as missing from claimed
    union all select null, null, name || ' (' || type || ')' from (${missingHere}) as missing`.execute(
    db,
  )
  const missing = rows.flatMap((row) => row.missing ?? [])
  if (missing.length > 0) throw listenerMissing(missing.toSorted())
  const createdAt = new Map(rows.map((row) => [row.id, row.created_at]))
  const won = ordered.flatMap(({ claim }) => {
    const at = createdAt.get(claim.eventId)
    return at === undefined ? [] : [toEvent(claim, at)]
  })
  return new Map(won.map((event) => [event.id, event]))
}

interface SourcedClaim {
  readonly source: ClaimSource
  readonly claim: Claim
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
