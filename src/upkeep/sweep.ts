import { sql, type Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { interval } from '../database/interval.ts'
import { serviceOperator } from '../database/reviews.ts'
import type { Tables } from '../database/tables.ts'
import { days } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Numbers } from '../numbers/slots.ts'
import { reviewCalls } from '../outcomes/review-calls.ts'
import { waitingCalls, requeueCallsWithPayment } from '../outcomes/waiting-calls.ts'
import { webhookCalls } from '../queue/calls.ts'
import { deferredEvents } from '../queue/deferred-events.ts'
import { deliveries } from '../queue/deliveries.ts'
import { type ExpiredRows, expireRows } from '../leases/queue-rows.ts'
import type { QueueTable } from '../leases/leased-table.ts'

/** Calls come last: their reviews may have to wait for an operator's lock, which fails the sweep. */
const tables: readonly QueueTable[] = [deliveries, deferredEvents, webhookCalls]

/** What upkeep needs besides the database. */
interface SweepOptions {
  readonly log: Log
  readonly newId: NewId
}

interface LeaseSweepOptions extends SweepOptions {
  readonly numbers: Numbers
}

/**
 * Takes rows back from workers that are gone; of what is given up a person must know. Returns how
 * many wait again.
 */
export async function sweepLeases(
  database: Database,
  { log, newId, numbers }: LeaseSweepOptions,
): Promise<number> {
  let requeued = 0
  for (const table of tables) {
    const expired = await expire(database, table, newId)
    requeued += expired.requeued
    if (table === webhookCalls) countLost(numbers, expired)
    if (expired.requeued > 0) {
      log.warn(
        { table: table.name, rows: expired.requeued },
        'leases ran out; another worker takes over',
      )
    }
    const failed = expired.failed.length
    if (failed > 0) log.error({ table: table.name, rows: failed }, 'given up: worker lost')
  }
  return requeued
}

/** A call that is given up has its review in the same transaction: no kill comes between them. */
function expire(database: Database, table: QueueTable, newId: NewId): Promise<ExpiredRows> {
  return database.transaction(async ({ db }) => {
    const expired = await expireRows(db, table)
    if (table.isReviewed) await reviewCalls(db, expired.failed, newId)
    return expired
  })
}

/** Whose calls they were is not looked up. */
function countLost(numbers: Numbers, { requeued, failed }: ExpiredRows): void {
  const lost = { gateway: '', kind: 'worker_lost' }
  const given = failed.length
  if (requeued + given > 0) numbers.add('attempts_failed_total', lost, requeued + given)
  if (given > 0) numbers.add('calls_finished_total', { gateway: '', state: 'failed' }, given)
}

/**
 * Marks callbacks that report money of a payment, by an id of our form, that still does not exist a
 * day later: nothing else will happen to them. One that a person has looked at is not marked again.
 * Returns how many.
 */
export async function markUnknownPayments(
  database: Database,
  { log, newId }: SweepOptions,
): Promise<number> {
  let marked = 0
  for await (const waiting of waitingCalls(database.db)) {
    const ids = waiting.map(({ id }) => id)
    const calls = await database.transaction(async ({ db }) => {
      const unknown = await markUnknown(db, ids)
      await reviewCalls(db, unknown, newId)
      return unknown
    })
    if (calls.length > 0) {
      log.warn({ calls }, 'money of payments that are unknown; it needs a review')
    }
    marked += calls.length
  }
  return marked
}

async function markUnknown(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set needs_review = true where id in (
      select id from billing.webhook_calls as call
      where id = any(${[...ids]}::uuid[])
        and awaiting is not null and state in ('processed', 'ignored') and not needs_review
        and received_at < statement_timestamp() - ${interval(days(1))}
        and (awaiting like 'id:%' or awaiting_also like 'id:%')
        and exists (
          select from json_array_elements(outcome) as one
          where one ->> 'reason' = 'unknown_payment'
            and (one ->> 'type' = 'dispute' or one ->> 'detail' = 'paid'))
        and not exists (
          select from billing.review_calls as link join billing.reviews as review
            on review.id = link.review_id
          where link.call_id = call.id and review.reason = 'unknown_payment'
            and review.operator is distinct from ${serviceOperator})
      for update of call skip locked
    ) returning id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Joins early callbacks with payments that were created beside them. */
export async function sweepAwaiting(database: Database, log: Log): Promise<number> {
  const calls = await requeueCallsWithPayment(database.db)
  if (calls.length > 0) log.info({ calls: calls.length }, 'early callbacks found their payment')
  return calls.length
}
