import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { referencePrefix } from '../gateways/fake/ending.ts'
import { closeForgottenPages } from '../money/close-page.ts'
import type { MoneyContext } from '../money/context.ts'
import { dispatchDeferred } from '../processing/deferred-events.ts'
import { createDeliver } from '../processing/deliver.ts'
import { processCall } from '../processing/process-calls.ts'
import { webhookCalls } from '../queue/calls.ts'
import { deferredEvents, outboxEvents, type LeasedEvent } from '../queue/deferred-events.ts'
import { deliveries } from '../queue/deliveries.ts'
import type { QueueRow, QueueTable } from '../leases/leased-table.ts'
import { takeRows } from '../leases/queue-rows.ts'
import { reconcileDue } from '../upkeep/reconcile.ts'
import { runDueSubscriptions } from '../upkeep/run-subscriptions.ts'
import { moveDueWindows } from '../usage/move-windows.ts'

/** What a service does at a time, and when it has something to do next. */
export interface Play {
  /** Does all that is due, one after another, until nothing is. Returns whether anything was. */
  due(): Promise<boolean>
  /** When something falls due after this time; undefined: never. */
  nextDueAt(after: Date): Promise<Date | undefined>
}

/** Everything that the processes of a service do by the clock, in one thread and without waiting. */
export function createPlay(context: MoneyContext): Play {
  const { db } = context.processing.database
  const handle = handlersOf(context)
  return {
    async due() {
      let played = false
      for (;;) {
        const { steps } = await runDueSubscriptions(context, { lanes: 1 })
        const polled = await pollDue(db, context)
        const moved = await moveWindowsNow(db, context)
        const handled = await handle()
        if (steps + polled + moved + handled === 0) break
        played = true
      }
      if (played) await closeForgottenPages(context)
      return played
    },
    nextDueAt: (after) => nextDueAt(db, after),
  }
}

/** Nobody waits here: what is over is looked at whenever anything may have been paid. */
async function moveWindowsNow(db: Kysely<Tables>, context: MoneyContext): Promise<number> {
  await sql`update billing.usage_counters set look_at = statement_timestamp()
    where look_at > statement_timestamp()
      and (window_ends_at is null or window_ends_at <= statement_timestamp())`.execute(db)
  return moveDueWindows(context)
}

/** Calls, deferred events, deliveries: in this order, each kind until none is left. */
function handlersOf({ processing }: MoneyContext): () => Promise<number> {
  const deliver = createDeliver(processing)
  const { database, listeners, newId } = processing
  const handleAll = async <Row extends QueueRow>(
    table: QueueTable<Row>,
    handle: (row: Row) => Promise<unknown>,
  ) => {
    let handled = 0
    for (;;) {
      const asked = { limit: 1, token: newId(), alone: false, listeners: listeners.keys() }
      const [row] = await takeRows(database.db, table, asked)
      if (row === undefined) return handled
      await handle(row)
      handled += 1
    }
  }
  return async () => {
    const calls = await handleAll(webhookCalls, (call) => processCall(call, processing))
    const dispatch = (event: LeasedEvent) => dispatchDeferred([event], processing)
    const events =
      (await handleAll(outboxEvents, dispatch)) + (await handleAll(deferredEvents, dispatch))
    return calls + events + (await handleAll(deliveries, deliver))
  }
}

/** Of declined charges only one whose answer will change: polls of the others say it again. */
const isPolled = sql`((type = 'charge' and status in ('pending', 'canceled'))
  or (type = 'charge' and status = 'failed'
    and starts_with(provider_reference, ${referencePrefix('recovered')}))
  or (type = 'refund' and status = 'pending'))`

/** A provider that does not answer is no failure of the rehearsal. */
async function pollDue(db: Kysely<Tables>, context: MoneyContext): Promise<number> {
  const { rows } = await sql`
    select from billing.payments
    where next_poll_at <= statement_timestamp() and ${isPolled} limit 1`.execute(db)
  if (rows.length === 0) return 0
  await reconcileDue(context, new AbortController().signal)
  return rows.length
}

/** The earliest of what waits; each kind of it is in a table of its own. */
async function nextDueAt(db: Kysely<Tables>, after: Date): Promise<Date | undefined> {
  const times = await Promise.all([
    earliest(db, sql`next_action_at as at from billing.subscriptions`, after),
    earliest(db, sql`next_poll_at as at from billing.payments where ${isPolled}`, after),
    ...[sql`billing.webhook_calls`, sql`billing.deferred_events`, sql`billing.deliveries`].map(
      (table) =>
        earliest(db, sql`next_attempt_at as at from ${table} where state = 'pending'`, after),
    ),
    earliest(
      db,
      sql`window_ends_at as at from billing.usage_counters where look_at is not null`,
      after,
    ),
  ])
  const known = times.filter((time) => time !== null)
  // The database knows microseconds, and what is due in half a millisecond is not due.
  return known.length === 0 ? undefined : new Date(Math.ceil(Math.min(...known)))
}

async function earliest(
  db: Kysely<Tables>,
  waiting: RawBuilder<unknown>,
  after: Date,
): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`
    select extract(epoch from min(at))::float8 * 1000 as at
    from (select ${waiting}) as waiting where at > ${after}`.execute(db)
  return rows[0]?.at ?? null
}
