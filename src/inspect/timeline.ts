import type { Kysely } from 'kysely'
import {
  newestActions,
  newestActivity,
  newestCalls,
  newestDeliveries,
  newestDisputes,
  newestEvents,
  newestFailedAttempts,
  newestMoves,
  newestRefunds,
  newestReviews,
  type HistoryActivity,
  type HistoryCall,
  type HistoryDelivery,
  type HistoryEvent,
  type HistoryFailedAttempt,
  type MovedPayment,
} from '../database/payment-history.ts'
import { findPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Payment } from '../payments/payment.ts'
import type { Review } from '../payments/review.ts'
import type { OperatorAction } from '../wire/operator.ts'
import { exceptionBeginning, exceptionLine } from './exception-line.ts'
import type { TimelineEntry, TimelineGroup, TimelineMove } from './timeline-entry.ts'

/** What happened to a payment, oldest first. */
export interface Timeline {
  /** The charge. */
  readonly payment: Payment
  readonly entries: readonly TimelineEntry[]
  /** Of some kind of entry there are more: the newest 200 of each are here. */
  readonly truncated: boolean
}

/**
 * The history of a charge; of a refund, that of its charge. Undefined for an id that no payment has.
 * Each kind is read by the index of its payment, one after the other: no more than one connection is
 * busy with it.
 */
export async function readTimeline(db: Kysely<Tables>, id: string): Promise<Timeline | undefined> {
  const payment = await withUuid(id, (known) => findCharge(db, known))
  if (payment === undefined) return undefined
  const refunds = await newestRefunds(db, payment.id)
  const ids = [payment.id, ...refunds.rows.map((refund) => refund.id)]
  const calls = await newestCalls(db, ids)
  const events = await newestEvents(db, ids)
  const eventIds = events.rows.map((event) => event.id)
  const deliveries = await newestDeliveries(db, { ids, eventIds })
  const moves = await newestMoves(db, ids)
  const failedAttempts = await failedAttemptsOf(db, calls.rows, deliveries.rows)
  const activity = await newestActivity(db, ids)
  const disputes = await newestDisputes(db, ids)
  const reviews = await newestReviews(db, payment.id)
  const actions = await newestActions(db, ids)
  const lists = [refunds, calls, events, deliveries, moves, failedAttempts, activity, disputes]
  return {
    payment,
    entries: mergeTimeline({
      payment,
      refunds: refunds.rows,
      calls: calls.rows,
      events: events.rows,
      deliveries: deliveries.rows,
      moves: moves.rows,
      failedAttempts: failedAttempts.rows,
      activity: activity.rows,
      disputes: disputes.rows,
      reviews: reviews.rows,
      actions: actions.rows,
    }),
    truncated: [...lists, reviews, actions].some(({ isCut }) => isCut),
  }
}

async function findCharge(db: Kysely<Tables>, id: string): Promise<Payment | undefined> {
  const found = await findPayment(db, id)
  return found === undefined || found.parentId === null ? found : findPayment(db, found.parentId)
}

interface WithId {
  readonly id: string
}

async function failedAttemptsOf(
  db: Kysely<Tables>,
  calls: readonly WithId[],
  deliveries: readonly WithId[],
) {
  const idsOf = (rows: readonly WithId[]) => ({
    ids: rows.map(({ id }) => id),
    beginning: exceptionBeginning,
  })
  const ofCalls = await newestFailedAttempts(db, 'call_id', idsOf(calls))
  const ofDeliveries = await newestFailedAttempts(db, 'delivery_id', idsOf(deliveries))
  return {
    rows: [...ofCalls.rows, ...ofDeliveries.rows],
    isCut: ofCalls.isCut || ofDeliveries.isCut,
  }
}

/** All that is known of a payment, in any order. */
export interface PaymentHistory {
  readonly payment: Payment
  readonly refunds: readonly Payment[]
  readonly moves: readonly MovedPayment[]
  readonly calls: readonly HistoryCall[]
  readonly failedAttempts: readonly HistoryFailedAttempt[]
  readonly events: readonly HistoryEvent[]
  readonly deliveries: readonly HistoryDelivery[]
  readonly activity: readonly HistoryActivity[]
  readonly disputes: readonly Dispute[]
  readonly reviews: readonly Review[]
  readonly actions: readonly OperatorAction[]
}

/** Of what happened at the same time, causes come before what followed from them. */
const causesFirst = [
  'created',
  'browser',
  'operator',
  'refund',
  'asked',
  'call',
  'failed_attempt',
  'transition',
  'dispute',
  'review',
  'review_handled',
  'event',
  'deferred',
  'delivery',
] as const satisfies readonly TimelineEntry['kind'][]

/** The entries in the order of time. A change that a call made stands with the call. */
export function mergeTimeline(history: PaymentHistory): readonly TimelineEntry[] {
  const calls = new Map(history.calls.map((call) => [call.id, call]))
  const isOfCall = ({ webhookCallId: id }: MovedPayment) => id !== null && calls.has(id)
  const refundIds = new Set(history.refunds.map(({ id }) => id))
  const eventIds = new Map(history.deliveries.map(({ id, eventId }) => [id, eventId]))
  const entries: readonly TimelineEntry[] = [
    createdEntry(history.payment),
    ...history.calls.map((call) => {
      const own = history.moves.filter(({ webhookCallId }) => webhookCallId === call.id)
      return callEntry(
        call,
        inOrder(own).map((move) => moveOf(move, refundIds)),
      )
    }),
    ...history.moves
      .filter((move) => !isOfCall(move))
      .map((move) => transitionEntry(move, refundIds)),
    ...history.failedAttempts.map((failed) => failedEntry(failed, eventIds)),
    ...history.events.map(eventEntry),
    ...history.deliveries.flatMap(deliveryEntries),
    ...history.activity.map(askedEntry),
    ...history.refunds.map(refundEntry),
    ...history.disputes.map(disputeEntry),
    ...history.reviews.flatMap(reviewEntries),
    ...history.actions.map(operatorEntry),
  ]
  return entries.toSorted(
    (a, b) =>
      a.at.getTime() - b.at.getTime() || causesFirst.indexOf(a.kind) - causesFirst.indexOf(b.kind),
  )
}

/** Our ids are ordered by time. */
function inOrder(moves: readonly MovedPayment[]): readonly MovedPayment[] {
  return moves.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function moveOf(
  { paymentId, from, to }: MovedPayment,
  refundIds: ReadonlySet<string>,
): TimelineMove {
  return { paymentId, isRefund: refundIds.has(paymentId), from, to }
}

function createdEntry({ id, createdAt, amount, currency }: Payment): TimelineEntry {
  return { kind: 'created', at: createdAt, groups: ['money'], paymentId: id, amount, currency }
}

function groups(
  always: readonly TimelineGroup[],
  sometimes: Partial<Readonly<Record<TimelineGroup, boolean>>>,
): readonly TimelineGroup[] {
  const order = ['money', 'callbacks', 'listeners', 'problems'] as const
  return order.filter((group) => always.includes(group) || sometimes[group] === true)
}

function callEntry(call: HistoryCall, moves: readonly TimelineMove[]): TimelineEntry {
  const { id, gateway, state, attempts, outcome, needsReview, receivedAt, processedAt } = call
  return {
    kind: 'call',
    at: receivedAt,
    groups: groups(['callbacks'], {
      money: moves.length > 0,
      problems: state === 'failed' || needsReview,
    }),
    callId: id,
    gateway,
    state,
    attempts,
    outcome,
    isDuplicate:
      outcome !== null &&
      outcome.length > 0 &&
      outcome.every(({ result }) => result === 'duplicate'),
    needsReview,
    moves,
    durationMs: lengthOf(receivedAt, processedAt),
  }
}

function lengthOf(from: Date, to: Date | null): number | null {
  return to === null ? null : Math.max(0, to.getTime() - from.getTime())
}

function transitionEntry(move: MovedPayment, refundIds: ReadonlySet<string>): TimelineEntry {
  return {
    kind: 'transition',
    at: move.at,
    groups: ['money'],
    ...moveOf(move, refundIds),
    cause: move.cause,
    callId: move.webhookCallId,
  }
}

function failedEntry(
  { callId, deliveryId, attempt, listener, exception, at }: HistoryFailedAttempt,
  eventIds: ReadonlyMap<string, string | null>,
): TimelineEntry {
  const found = exceptionLine(exception, listener === null ? [] : [listener])
  const whose = listener ?? found.listener
  return {
    kind: 'failed_attempt',
    at,
    groups: groups(['problems'], { callbacks: callId !== null, listeners: whose !== null }),
    callId,
    deliveryId,
    eventId: deliveryId === null ? null : (eventIds.get(deliveryId) ?? null),
    attempt,
    listener: whose,
    error: found.line,
  }
}

function eventEntry(event: HistoryEvent): TimelineEntry {
  const { id: eventId, type: eventType, createdAt: at, source } = event
  if (source === 'browser') return { kind: 'browser', at, groups: [], eventId, eventType }
  const { paymentId, superseded, webhookCallId: callId } = event
  const facts = { eventId, eventType, paymentId, source, superseded, callId }
  return { kind: 'event', at, groups: ['listeners'], ...facts }
}

/** Of a deferred event that was dispatched the event itself tells. */
function deliveryEntries(delivery: HistoryDelivery): readonly TimelineEntry[] {
  const { id: deliveryId, eventId, eventType, listener, state, createdAt, processedAt } = delivery
  const { attempts, nextAttemptAt } = delivery
  const facts = { deliveryId, state, attempts, nextAttemptAt }
  const shown = groups(['listeners'], { problems: state === 'failed' })
  if (eventId !== null && listener !== null) {
    const durationMs = lengthOf(createdAt, processedAt)
    const at = processedAt ?? createdAt
    return [{ kind: 'delivery', at, groups: shown, ...facts, eventId, listener, durationMs }]
  }
  if (state === 'processed') return []
  return [{ kind: 'deferred', at: createdAt, groups: shown, ...facts, eventType }]
}

function askedEntry({ firstAt, ...activity }: HistoryActivity): TimelineEntry {
  const shown = groups(['money'], { problems: activity.result !== 'answered' })
  return { kind: 'asked', at: firstAt, groups: shown, ...activity }
}

function refundEntry(refund: Payment): TimelineEntry {
  const { id: refundId, createdAt: at, status, amount, currency, operationError: error } = refund
  const shown = groups(['money'], { problems: status === 'failed' || status === 'canceled' })
  return { kind: 'refund', at, groups: shown, refundId, status, amount, currency, error }
}

function disputeEntry(dispute: Dispute): TimelineEntry {
  const { id: disputeId, providerReference: reference, status, amount, currency } = dispute
  return {
    kind: 'dispute',
    at: dispute.createdAt,
    groups: groups(['money'], { problems: status !== 'won' }),
    disputeId,
    reference,
    status,
    amount,
    currency,
    lastAt: dispute.updatedAt,
  }
}

function reviewEntries(review: Review): readonly TimelineEntry[] {
  const { id: reviewId, reason, detail, state, times, webhookCallId: callId, lastAt } = review
  const facts = { reviewId, reason, detail, state, times, callId, lastAt }
  const found = { kind: 'review', at: review.createdAt, groups: ['problems'], ...facts } as const
  const { handledAt: at, operator, note } = review
  if (at === null) return [found]
  const handled = { kind: 'review_handled', at, groups: ['problems'], reviewId, reason } as const
  return [found, { ...handled, operator, note }]
}

function operatorEntry({ id: actionId, at, ...action }: OperatorAction): TimelineEntry {
  return { kind: 'operator', at, groups: ['money'], actionId, ...action }
}
