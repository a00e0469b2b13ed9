import { sql, type Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { interval } from '../database/interval.ts'
import type { Tables } from '../database/tables.ts'
import { days } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { requeueCallsWithPayment } from '../outcomes/awaiting.ts'
import { waitingCalls } from '../outcomes/waiting-calls.ts'
import { webhookCalls } from '../queue/calls.ts'
import { deliveries } from '../queue/deliveries.ts'
import { expireRows } from '../queue/end-rows.ts'

const tables = [webhookCalls, deliveries]

/** Takes rows back from workers that are gone. Returns how many wait again. */
export async function sweepLeases(database: Database, log: Log): Promise<number> {
  let requeued = 0
  for (const table of tables) {
    const expired = await expireRows(database.db, table)
    requeued += expired.requeued
    if (expired.requeued > 0) {
      log.warn(
        { table: table.name, rows: expired.requeued },
        'leases ran out; another worker takes over',
      )
    }
    if (expired.failed > 0)
      log.error({ table: table.name, rows: expired.failed }, 'given up: worker lost')
  }
  return requeued
}

/**
 * Marks callbacks that report money of a payment, by an id of our form, that still does not exist a
 * day later: nothing else will happen to them. Returns how many.
 */
export async function markUnknownPayments({ db }: Database, log: Log): Promise<number> {
  let marked = 0
  for await (const waiting of waitingCalls(db)) {
    const calls = await markUnknown(
      db,
      waiting.map(({ id }) => id),
    )
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
      select id from billing.webhook_calls
      where id = any(${[...ids]}::uuid[])
        and awaiting is not null and state in ('processed', 'ignored') and not needs_review
        and received_at < statement_timestamp() - ${interval(days(1))}
        and (awaiting like 'id:%' or awaiting_also like 'id:%')
        and exists (
          select from json_array_elements(outcome) as one
          where one ->> 'reason' = 'unknown_payment'
            and (one ->> 'type' = 'dispute' or one ->> 'detail' = 'paid'))
      for update skip locked
    ) returning id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Joins early callbacks with payments that were created beside them. */
export async function sweepAwaiting(database: Database, log: Log): Promise<number> {
  const calls = await requeueCallsWithPayment(database.db)
  if (calls.length > 0) log.info({ calls: calls.length }, 'early callbacks found their payment')
  return calls.length
}
