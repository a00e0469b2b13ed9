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
} from '../database/payment-history.ts'
import { findPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { withUuid } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import { exceptionBeginning } from './exception-line.ts'
import { mergeTimeline } from './merge-timeline.ts'
import type { TimelineEntry } from './timeline-entry.ts'

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
