import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Day } from '../kernel/day.ts'
import { hours, type Duration } from '../kernel/duration.ts'
import type { Transaction } from './connect.ts'
import { interval } from './interval.ts'
import type { TotalKey } from './sum-day.ts'
import type { Tables } from './tables.ts'
import type { TotalMode } from './total-tables.ts'

/** A number of payments, and their money in minor units. */
export interface CountedMoney {
  readonly count: number
  readonly amount: bigint
}

/** What happened in a day to the money of one account in one currency. */
export interface AccountTotals extends TotalKey {
  readonly paid: CountedMoney
  readonly refunded: CountedMoney
  readonly returned: CountedMoney
  readonly opened: number
  readonly won: number
  readonly lost: number
}

/** What is committed later than this after its day is in no total: no transaction lasts as long. */
const latestCommit: Duration = hours(1)

/** `day`, where it was computed when nothing could change it any more. */
const isComplete = sql`totaled.computed_at >=
  (totaled.day + 1)::timestamp at time zone 'UTC' + ${interval(latestCommit)}`

/** Days since this one that are computed for good, by name. */
export async function completeDays(db: Kysely<Tables>, since: Day): Promise<ReadonlySet<Day>> {
  const { rows } = await sql<{ day: Day }>`
    select to_char(day, 'YYYY-MM-DD') as day from billing.totaled_days as totaled
    where day >= ${since}::date and ${isComplete}`.execute(db)
  return new Set(rows.map(({ day }) => day))
}

/**
 * Writes the totals of a day in place of those that were there. False: another process has read its
 * history later than this one, so that its totals stay.
 */
export async function replaceDay(
  { db }: Transaction,
  { day, computedAt }: { readonly day: Day; readonly computedAt: Date },
  totals: readonly AccountTotals[],
): Promise<boolean> {
  // The day's row is the lock: whoever replaces the same day waits here.
  const { rows } = await sql`
    insert into billing.totaled_days as known (day, computed_at)
    values (${day}::date, ${computedAt})
    on conflict (day) do update set computed_at = excluded.computed_at
      where known.computed_at <= excluded.computed_at
    returning day`.execute(db)
  if (rows.length === 0) return false
  await sql`delete from billing.day_totals where day = ${day}::date`.execute(db)
  if (totals.length > 0) await insertTotals(db, day, totals)
  return true
}

async function insertTotals(
  db: Kysely<Tables>,
  day: Day,
  totals: readonly AccountTotals[],
): Promise<void> {
  const column = <T>(read: (one: AccountTotals) => T) => totals.map(read)
  await sql`
    insert into billing.day_totals (day, gateway, merchant_account, mode, currency, paid_count,
      paid_amount, refunded_count, refunded_amount, returned_count, returned_amount,
      disputes_opened, disputes_won, disputes_lost)
    select ${day}::date, * from unnest(
      ${column(({ gateway }) => gateway)}::text[],
      ${column(({ account }) => account)}::text[],
      ${column(({ mode }) => mode)}::text[],
      ${column(({ currency }) => currency)}::text[],
      ${column(({ paid }) => paid.count)}::bigint[],
      ${column(({ paid }) => paid.amount)}::numeric[],
      ${column(({ refunded }) => refunded.count)}::bigint[],
      ${column(({ refunded }) => refunded.amount)}::numeric[],
      ${column(({ returned }) => returned.count)}::bigint[],
      ${column(({ returned }) => returned.amount)}::numeric[],
      ${column(({ opened }) => opened)}::bigint[],
      ${column(({ won }) => won)}::bigint[],
      ${column(({ lost }) => lost)}::bigint[]
    )`.execute(db)
}

/** A day, and one account's totals of it; null where nothing happened in it. */
export interface DayTotalsRow {
  readonly day: Day
  readonly computedAt: Date
  /** Nothing could change it any more when it was computed. */
  readonly isFinal: boolean
  readonly totals: AccountTotals | null
}

/** Of these days, the newest first: one statement, so that each day is as one computation left it. */
export async function readDayTotals(
  db: Kysely<Tables>,
  { from, to, most }: { readonly from: Day; readonly to: Day; readonly most: number },
): Promise<readonly DayTotalsRow[]> {
  const { rows } = await sql<TotalsRow>`
    select to_char(totaled.day, 'YYYY-MM-DD') as day, totaled.computed_at as "computedAt",
      ${isComplete} as "isFinal",
      gateway, merchant_account as account, mode, currency,
      ${counted('paid')}, ${counted('refunded')}, ${counted('returned')},
      disputes_opened::float8 as opened, disputes_won::float8 as won, disputes_lost::float8 as lost
    from billing.totaled_days as totaled
    left join billing.day_totals as total on total.day = totaled.day
    where totaled.day between ${from}::date and ${to}::date
    order by totaled.day desc, gateway, merchant_account, mode, currency limit ${most}`.execute(db)
  return rows.map(toRow)
}

function counted(name: 'paid' | 'refunded' | 'returned'): RawBuilder<unknown> {
  return sql`${sql.ref(`${name}_count`)}::float8 as ${sql.ref(`${name}Count`)},
    ${sql.ref(`${name}_amount`)}::text as ${sql.ref(`${name}Amount`)}`
}

interface DayAlone extends Omit<DayTotalsRow, 'totals'> {
  readonly gateway: null
}

interface FilledRow extends Omit<DayAlone, 'gateway'> {
  readonly gateway: string
  readonly account: string
  readonly mode: TotalMode
  readonly currency: string
  readonly paidCount: number
  readonly paidAmount: string
  readonly refundedCount: number
  readonly refundedAmount: string
  readonly returnedCount: number
  readonly returnedAmount: string
  readonly opened: number
  readonly won: number
  readonly lost: number
}

type TotalsRow = DayAlone | FilledRow

function toRow(row: TotalsRow): DayTotalsRow {
  const { day, computedAt, isFinal } = row
  const computed = { day, computedAt, isFinal }
  if (row.gateway === null) return { ...computed, totals: null }
  const { gateway, account, mode, currency, opened, won, lost } = row
  const key = { gateway, account, mode, currency }
  const paid = { count: row.paidCount, amount: BigInt(row.paidAmount) }
  const refunded = { count: row.refundedCount, amount: BigInt(row.refundedAmount) }
  const returned = { count: row.returnedCount, amount: BigInt(row.returnedAmount) }
  return { ...computed, totals: { ...key, paid, refunded, returned, opened, won, lost } }
}
