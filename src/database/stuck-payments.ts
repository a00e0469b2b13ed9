import { sql, type Kysely, type RawBuilder } from 'kysely'
import { days, hours, minutes, type Duration } from '../kernel/duration.ts'
import { mostCounted } from './count-up-to.ts'
import { isPolled } from './due-payments.ts'
import { interval } from './interval.ts'
import type { Position } from './page.ts'
import type { Tables } from './tables.ts'

export const stuckKinds = [
  'checkout_unknown',
  'poll_overdue',
  'refund_pending',
  'dispute_open',
] as const
/**
 * How money is stuck:
 * - `checkout_unknown`: for an hour nobody has known whether the provider opened a checkout;
 * - `poll_overdue`: its provider should have been asked 15 minutes ago;
 * - `refund_pending`: a refund that has been under way for a day;
 * - `dispute_open`: a payer's bank takes a payment back.
 */
export type StuckKind = (typeof stuckKinds)[number]

/** The rows of one kind; its index has them in this order, those of a poll by gateway. */
interface Place {
  readonly table: RawBuilder<unknown>
  readonly at: RawBuilder<Date>
  /** The same words as in the index. */
  readonly which: RawBuilder<unknown>
  /** How old it has to be. */
  readonly after: Duration
}

const payments = sql`billing.payments`
const places: Readonly<Record<StuckKind, Place>> = {
  checkout_unknown: {
    table: payments,
    at: sql`created_at`,
    which: sql`checkout = 'unknown' and status = 'pending'`,
    after: hours(1),
  },
  poll_overdue: {
    table: payments,
    at: sql`next_poll_at`,
    which: sql`next_poll_at is not null and ${isPolled}`,
    after: minutes(15),
  },
  refund_pending: {
    table: payments,
    at: sql`created_at`,
    which: sql`type = 'refund' and status = 'pending'`,
    after: days(1),
  },
  dispute_open: {
    table: sql`billing.disputes`,
    at: sql`created_at`,
    which: sql`status = 'open'`,
    after: 0,
  },
}

/** A row that is stuck: of a dispute, the dispute. */
export interface StuckRow {
  readonly id: string
  readonly at: Date
}

interface StuckRows {
  readonly stuck: StuckKind
  /** Of polls: those that are known here. */
  readonly gateways: readonly string[]
}

/** The longest first. */
export async function readStuck(
  db: Kysely<Tables>,
  { stuck, gateways }: StuckRows,
  { after, limit }: { readonly after: Position | undefined; readonly limit: number },
): Promise<readonly StuckRow[]> {
  const { at } = places[stuck]
  const behind =
    after === undefined ? sql`` : sql`and (${at}, id) > (${after.at}, ${after.id}::uuid)`
  const some = (of: RawBuilder<unknown>) =>
    sql`(select id, ${at} as at ${of} ${behind} order by ${at}, id limit ${limit})`
  const parts = partsOf(stuck, gateways).map(some)
  if (parts.length === 0) return []
  const { rows } = await sql<StuckRow>`
    select id, at from (${sql.join(parts, sql` union all `)}) as stuck
    order by at, id limit ${limit}`.execute(db)
  return rows
}

/** How many there are, up to 10,001, and since when the oldest of these is stuck. */
export interface StuckSum {
  readonly count: number
  readonly oldest: Date | null
}

export async function sumStuck(
  db: Kysely<Tables>,
  { stuck, gateways }: StuckRows,
): Promise<StuckSum> {
  const { at } = places[stuck]
  const parts = partsOf(stuck, gateways).map(
    (of) => sql`(select ${at} as at ${of} order by ${at} limit ${mostCounted})`,
  )
  if (parts.length === 0) return { count: 0, oldest: null }
  const { rows } = await sql<StuckSum>`
    select least(count(*), ${mostCounted})::int as count, min(at) as oldest
    from (${sql.join(parts, sql` union all `)}) as stuck`.execute(db)
  return rows[0] ?? { count: 0, oldest: null }
}

/** Polls of each gateway by themselves: an index has them in order only so. */
function partsOf(stuck: StuckKind, gateways: readonly string[]): readonly RawBuilder<unknown>[] {
  const { table, at, which, after } = places[stuck]
  const rows = sql`from ${table} where ${which} and ${at} < statement_timestamp() - ${interval(after)}`
  if (stuck !== 'poll_overdue') return [rows]
  return gateways.map((gateway) => sql`${rows} and gateway = ${gateway}`)
}
