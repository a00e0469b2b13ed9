import { sql, type Kysely, type RawBuilder } from 'kysely'
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
 * Ids of payments that are due, in three orders. A payment may stand in all of them, and a refund is
 * a payment of its own.
 */
export interface DuePayments {
  /** Refunds, and requests to charge or to open a checkout that nobody has answered: newest first. */
  readonly unanswered: readonly string[]
  /** All, those first that were handed over last. */
  readonly youngest: readonly string[]
  /** All, those first that have been due for longest. */
  readonly longestDue: readonly string[]
}

/** The first ones of each order, without those `passed`. Nothing is taken. */
export async function readDuePayments(
  db: Kysely<Tables>,
  { gateway, dueAt }: DueQuery,
  { limit, passed }: { readonly limit: number; readonly passed: ReadonlySet<string> },
): Promise<DuePayments> {
  const first = (which: RawBuilder<unknown>, order: RawBuilder<unknown>) => sql`array(
    select id::text from billing.payments
    where gateway = ${gateway} and next_poll_at <= ${dueAt} and ${which}
      and id <> all(${[...passed]}::uuid[])
    order by ${order} limit ${limit})`
  const { rows } = await sql<DuePayments>`
    select ${first(isUnanswered, sql`${handedAt} desc`)} as unanswered,
      ${first(isPolled, sql`${handedAt} desc`)} as youngest,
      ${first(isPolled, sql`next_poll_at`)} as "longestDue"`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('lists without a row')
  return row
}

/** The same words as in the indexes. */
const handedAt = sql`coalesce(handed_at, created_at)`
const isUnanswered = sql`((type = 'refund' and status = 'pending')
  or (type = 'charge' and status = 'pending' and checkout = 'unknown'))`

/**
 * Takes a payment that is due, so that nobody else takes it meanwhile. Returns the id of its charge,
 * which is what is polled of a refund. Undefined: somebody else has it.
 */
export async function takeDuePayment(
  db: Kysely<Tables>,
  id: string,
  dueAt: Date,
): Promise<string | undefined> {
  const { rows } = await sql<{ charge: string }>`
    update billing.payments set next_poll_at = statement_timestamp() + ${interval(takenFor)}
    where id = (
      select id from billing.payments
      where id = ${id}::uuid and next_poll_at <= ${dueAt} and ${isPolled}
      for update skip locked
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
