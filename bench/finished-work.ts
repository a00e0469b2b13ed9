import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../src/database/connect.ts'
import type { ListenerKind } from './service.ts'

const pollMs = 250
const finishedWithinMs = 240_000

/** Asks rarely, and only whether anything is left: the database's own times are the measure. */
export async function untilFinished({ pool }: Database): Promise<void> {
  const unfinished = `state in ('pending', 'processing')`
  const deadline = performance.now() + finishedWithinMs
  while (performance.now() < deadline) {
    const { rows } = await pool.query<{ open: boolean }>(
      `select exists (select from billing.webhook_calls where ${unfinished})
         or exists (select from billing.deliveries where ${unfinished}) as open`,
    )
    if (rows[0]?.open === false) return
    await pause(pollMs)
  }
  throw new Error(`the work was not finished within ${finishedWithinMs / 1000} s`)
}

export interface Expected {
  readonly listener: ListenerKind
  readonly calls: number
  /** Finished before the measurement began. */
  readonly before?: number
}

/** A figure counts only if every call did its work, once. */
export async function verifyWork(
  { pool }: Database,
  { listener, calls, before = 0 }: Expected,
): Promise<void> {
  const { rows } = await pool.query<Record<string, number>>(`
    select (select count(*) from billing.webhook_calls where state = 'processed')::integer as calls,
      (select count(*) from billing.payments where status = 'paid')::integer as paid,
      (select count(*) from billing.events where type = 'PaymentSucceeded')::integer as events,
      (select count(distinct payment_id) from billing.events)::integer as payments,
      (select count(*) from billing.deliveries where state = 'processed')::integer as deliveries`)
  const told = listener === 'a listener inserts a row' ? await countTold(pool) : 0
  const found = { ...rows[0], told }
  const all = calls + before
  const wanted = {
    calls: all,
    paid: all,
    events: all,
    payments: all,
    deliveries: listener === 'a queued listener' ? calls : 0,
    told: listener === 'a listener inserts a row' ? calls : 0,
  }
  if (JSON.stringify(found) === JSON.stringify(wanted)) return
  throw new Error(`${listener}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`)
}

async function countTold(pool: Database['pool']): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(distinct payment_id)::integer as count from told having count(*) = count(distinct payment_id)',
  )
  return rows[0]?.count ?? -1
}

/**
 * Calls a second, from the first processed call to the last finished piece of work. What was
 * finished at the first moment is left out: its work lies before the measured time.
 */
export async function rateOf({ pool }: Database, since = new Date(0)): Promise<number> {
  const { rows } = await pool.query<{ rate: number }>(
    // Materialized: by statistics from before the work, the server would look for it row by row.
    `with begun as materialized (
      select min(processed_at) as first from billing.webhook_calls where processed_at > $1)
    select (count(*) filter (where processed_at > first)
      / extract(epoch from greatest(max(processed_at),
          (select max(processed_at) from billing.deliveries)) - min(first)))::float8 as rate
    from billing.webhook_calls, begun where processed_at > $1`,
    [since],
  )
  return rows[0]?.rate ?? Number.NaN
}
