import { sql, type Kysely } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import { interval, inTime } from './interval.ts'
import type { Tables } from './tables.ts'

/**
 * A process that takes a payment has this long to poll it: if it dies, the payment is due again.
 */
const takenFor: Duration = 5 * 60_000

/** The same words as in the index. */
export const isPolled = sql`((type = 'charge' and status <> 'paid')
  or (type = 'refund' and status = 'pending'))`

/** The database's time, exact enough that what it has made due by now is due. */
export async function readDueTime(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`
    select date_trunc('milliseconds', statement_timestamp()) + interval '1 ms' as now`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a time without a row')
  return row.now
}

/** What a run polls: whatever it postpones itself is left to the next run. */
export interface DueQuery {
  readonly gateway: string
  readonly dueAt: Date
}

/**
 * Takes the payment of the gateway that has been due for longest, so that nobody else takes it
 * meanwhile: a charge, or the charge of a refund without an answer. Undefined: none is due.
 */
export async function takeDuePayment(
  db: Kysely<Tables>,
  { gateway, dueAt }: DueQuery,
): Promise<string | undefined> {
  const { rows } = await sql<{ charge: string }>`
    update billing.payments set next_poll_at = statement_timestamp() + ${interval(takenFor)}
    where id = (
      select id from billing.payments
      where gateway = ${gateway} and next_poll_at <= ${dueAt} and ${isPolled}
      order by next_poll_at limit 1 for update skip locked
    ) returning coalesce(parent_id, id) as charge`.execute(db)
  return rows[0]?.charge
}

/** How many payments are due for a poll at that time, by gateway. */
export async function countDuePayments(
  db: Kysely<Tables>,
  dueAt: Date,
): Promise<readonly { readonly gateway: string; readonly due: number }[]> {
  const { rows } = await sql<{ gateway: string; due: number }>`
    select gateway, count(distinct coalesce(parent_id, id))::int as due from billing.payments
    where next_poll_at <= ${dueAt} and ${isPolled}
    group by gateway order by gateway`.execute(db)
  return rows
}

/** Makes a row that was not polled due again soon. */
export async function pollSoon(db: Kysely<Tables>, paymentId: string): Promise<void> {
  await sql`update billing.payments set next_poll_at = statement_timestamp() + ${interval(takenFor)}
    where id = ${paymentId}`.execute(db)
}

/** How long until the payment is polled next; null: no more. */
export async function schedulePoll(
  db: Kysely<Tables>,
  paymentId: string,
  { wait, error }: { readonly wait: Duration | null; readonly error: string | null },
): Promise<void> {
  await db
    .updateTable('billing.payments')
    .set({ next_poll_at: inTime(wait), poll_error: error })
    .where('id', '=', paymentId)
    .execute()
}
