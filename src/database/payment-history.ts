import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { EventSource } from '../events/catalogue.ts'
import type { DeliveryState } from '../events/event-record.ts'
import type { CallState } from '../events/webhook-call.ts'
import type { PaymentActivity } from '../payments/activity.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import type { Payment, PaymentTransition } from '../payments/payment.ts'
import type { Review } from '../payments/review.ts'
import type { OperatorAction } from '../wire/operator.ts'
import { toDispute } from './disputes.ts'
import { newestReviewsOf } from './list-reviews.ts'
import { actionsOn } from './operator-actions.ts'
import { paymentColumns, toPayment, type PaymentRow } from './payments.ts'
import type { DisputesTable, Tables } from './tables.ts'

// Each reads the newest rows of one kind, of a payment and its refunds, by its index.

/** Rows of one kind that a history has. */
const mostOfEach = 200
/** One more says that there are more. */
const readOfEach = mostOfEach + 1
/** A provider may redeliver one callback for ever: so many of a payment's calls are looked at. */
const mostCallsLookedAt = 2_000

/** The newest rows; `isCut`: there are more. */
export interface NewestRows<Row> {
  readonly rows: readonly Row[]
  readonly isCut: boolean
}

/** The ids of a payment and of its refunds. */
export type HistoryOf = readonly string[]

function among(ids: readonly string[]): RawBuilder<unknown> {
  return sql`any(${[...ids]}::uuid[])`
}

function newest<Row>(rows: readonly Row[]): NewestRows<Row> {
  return { rows: rows.slice(0, mostOfEach), isCut: rows.length > mostOfEach }
}

export async function newestRefunds(
  db: Kysely<Tables>,
  chargeId: string,
): Promise<NewestRows<Payment>> {
  const { rows } = await sql<PaymentRow>`
    select ${paymentColumns} from billing.payments where parent_id = ${chargeId}::uuid
    order by created_at desc, id desc limit ${readOfEach}`.execute(db)
  return newest(rows.map(toPayment))
}

/** A change of a payment or of a refund of it. */
export interface MovedPayment extends PaymentTransition {
  readonly id: string
  readonly paymentId: string
}

export async function newestMoves(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<MovedPayment>> {
  const { rows } = await sql<MovedPayment>`
    select id, payment_id as "paymentId", from_status as from, to_status as to, cause,
      webhook_call_id as "webhookCallId", at
    from billing.payment_transitions where payment_id = ${among(ids)}
    order by id desc limit ${readOfEach}`.execute(db)
  return newest(rows)
}

/** What a history shows of a stored call. */
export interface HistoryCall {
  readonly id: string
  readonly gateway: string
  readonly state: CallState
  readonly attempts: number
  readonly outcome: readonly OutcomeResult[] | null
  readonly needsReview: boolean
  readonly receivedAt: Date
  readonly processedAt: Date | null
}

export async function newestCalls(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<HistoryCall>> {
  const { rows } = await sql<CallRow>`
    select * from (
      select id, gateway, state, attempts, outcome, needs_review as "needsReview",
        received_at as "receivedAt", processed_at as "processedAt"
      from billing.webhook_calls where payment_id = ${among(ids)}
      limit ${mostCallsLookedAt}
    ) as looked_at order by id desc limit ${readOfEach}`.execute(db)
  return newest(rows.map(toHistoryCall))
}

type CallRow = Omit<HistoryCall, 'outcome'> & { readonly outcome: string | null }

function toHistoryCall({ outcome, ...row }: CallRow): HistoryCall {
  return { ...row, outcome: outcome === null ? null : (JSON.parse(outcome) as OutcomeResult[]) }
}

/** What a history shows of an event. */
export interface HistoryEvent {
  readonly id: string
  readonly type: string
  readonly paymentId: string
  readonly webhookCallId: string | null
  readonly source: EventSource
  readonly superseded: boolean
  readonly createdAt: Date
}

export async function newestEvents(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<HistoryEvent>> {
  const { rows } = await sql<HistoryEvent>`
    select id, type, payment_id as "paymentId", webhook_call_id as "webhookCallId", source,
      superseded, created_at as "createdAt"
    from billing.events where payment_id = ${among(ids)}
    order by id desc limit ${readOfEach}`.execute(db)
  return newest(rows)
}

/** A delivery to a queued listener, or a deferred event: then it has no `eventId`. */
export interface HistoryDelivery {
  readonly id: string
  readonly eventId: string | null
  readonly eventType: string | null
  readonly listener: string | null
  readonly state: DeliveryState
  readonly attempts: number
  /** Null: no more. */
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
  readonly processedAt: Date | null
}

const deliveryColumns = sql`id, state, attempts,
  case when state in ('pending', 'processing') then next_attempt_at end as "nextAttemptAt",
  created_at as "createdAt", processed_at as "processedAt"`

export async function newestDeliveries(
  db: Kysely<Tables>,
  { ids, eventIds }: { readonly ids: HistoryOf; readonly eventIds: readonly string[] },
): Promise<NewestRows<HistoryDelivery>> {
  const toListeners = await sql<HistoryDelivery>`
    select event_id as "eventId", null as "eventType", listener, ${deliveryColumns}
    from billing.deliveries where event_id = ${among(eventIds)}
    order by id desc limit ${readOfEach}`.execute(db)
  const deferred = await sql<HistoryDelivery>`
    select null as "eventId", type as "eventType", null as listener, ${deliveryColumns}
    from billing.deferred_events where payment_id = ${among(ids)}
    order by id desc limit ${readOfEach}`.execute(db)
  const [one, other] = [newest(toListeners.rows), newest(deferred.rows)]
  return { rows: [...one.rows, ...other.rows], isCut: one.isCut || other.isCut }
}

/** An attempt at one of these calls, deliveries or deferred events that failed. */
export interface HistoryFailedAttempt {
  readonly id: string
  readonly callId: string | null
  readonly deliveryId: string | null
  readonly attempt: number
  readonly listener: string | null
  /** The beginning of what it threw. */
  readonly exception: string
  readonly at: Date
}

export async function newestFailedAttempts(
  db: Kysely<Tables>,
  of: 'call_id' | 'delivery_id',
  { ids, beginning }: { readonly ids: readonly string[]; readonly beginning: number },
): Promise<NewestRows<HistoryFailedAttempt>> {
  if (ids.length === 0) return { rows: [], isCut: false }
  const { rows } = await sql<HistoryFailedAttempt>`
    select id, call_id as "callId", delivery_id as "deliveryId", attempt, listener,
      left(exception, ${beginning}::int) as exception, created_at as at
    from billing.failed_attempts where ${sql.ref(of)} = ${among(ids)}
    order by id desc limit ${readOfEach}`.execute(db)
  return newest(rows)
}

/** What was asked about a payment or a refund of it. */
export interface HistoryActivity extends PaymentActivity {
  readonly paymentId: string
}

export async function newestActivity(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<HistoryActivity>> {
  const { rows } = await sql<HistoryActivity>`
    select payment_id as "paymentId", operation, result, detail, times,
      duration_ms as "durationMs", created_at as "firstAt", updated_at as "lastAt"
    from billing.payment_activity where payment_id = ${among(ids)}
    order by id desc limit ${readOfEach}`.execute(db)
  return newest(rows)
}

export async function newestDisputes(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<Dispute>> {
  const { rows } = await sql<Selectable<DisputesTable>>`
    select * from billing.disputes where payment_id = ${among(ids)}
    order by created_at desc, id desc limit ${readOfEach}`.execute(db)
  return newest(rows.map(toDispute))
}

export async function newestActions(
  db: Kysely<Tables>,
  ids: HistoryOf,
): Promise<NewestRows<OperatorAction>> {
  return newest(await actionsOn(db, ids, readOfEach))
}

export async function newestReviews(
  db: Kysely<Tables>,
  chargeId: string,
): Promise<NewestRows<Review>> {
  return newest(await newestReviewsOf(db, chargeId, readOfEach))
}
