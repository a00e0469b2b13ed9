import type { Kysely } from 'kysely'
import {
  readDayTotals,
  type AccountTotals,
  type CountedMoney,
  type DayTotalsRow,
} from '../database/day-totals.ts'
import { databaseNow } from '../database/now.ts'
import { firstDay } from '../database/sum-day.ts'
import type { Tables } from '../database/tables.ts'
import { countDays, dayAfter, dayOf, isDay, type Day } from '../kernel/day.ts'
import { fieldError } from '../kernel/errors.ts'

/** Which days, both included: in UTC, like `2026-11-26`. */
export interface TotalsQuery {
  readonly from: string
  /** At most 366 days. */
  readonly to: string
}

/** What happened in a day to the money of one gateway's account in one currency. */
export interface MoneyTotals {
  readonly gateway: string
  /** Null: the payments name none. */
  readonly merchantAccount: string | null
  /** Whether it is real money; null: the provider does not say. */
  readonly live: boolean | null
  readonly currency: string
  /** Charges that became paid. */
  readonly paid: CountedMoney
  /** Refunds that became paid: the money went back. */
  readonly refunded: CountedMoney
  /** Refunds that failed after that: the money came back. */
  readonly returned: CountedMoney
  readonly disputesOpened: number
  readonly disputesWon: number
  readonly disputesLost: number
}

/** What happened in a day, in UTC. */
export interface DayTotals {
  /** Like `2026-11-26`. */
  readonly day: string
  readonly isOver: boolean
  /** Null: not yet. What came later is not in it. */
  readonly computedAt: Date | null
  /** Whether nothing can be added any more: it was computed an hour after its end, or later. */
  readonly isFinal: boolean
  /** By gateway, account, mode and currency; those of which nothing happened are left out. */
  readonly totals: readonly MoneyTotals[]
}

const mostDays = 366
/** Of a day there are as many as accounts and currencies. */
const mostRows = 20_000

/** Days of the future, and those before the first payment, are left out. Error: query_invalid. */
export async function readTotals(
  db: Kysely<Tables>,
  query: TotalsQuery,
): Promise<readonly DayTotals[]> {
  const { from, to } = checkedDays(query)
  const now = await databaseNow(db)
  const today = dayOf(now)
  const since = (await firstDay(db, now)) ?? today
  const rows = await readDayTotals(db, { from, to, most: mostRows + 1 })
  if (rows.length > mostRows) {
    throw fieldError('query_invalid', 'from', `asks for more than ${mostRows} totals: fewer days`)
  }
  const computed = Map.groupBy(rows, ({ day }) => day)
  return daysDownTo(from, to < today ? to : today)
    .filter((day) => day >= since || computed.has(day))
    .map((day) => toDay({ day, isOver: day < today }, computed.get(day)))
}

function checkedDays({ from, to }: TotalsQuery): TotalsQuery {
  for (const [field, day] of Object.entries({ from, to })) {
    if (!isDay(day)) throw fieldError('query_invalid', field, 'must be a day such as 2026-11-26')
  }
  const count = countDays(from, to)
  if (count < 1) throw fieldError('query_invalid', 'to', 'must not be earlier than from')
  if (count > mostDays) {
    throw fieldError('query_invalid', 'to', `must be at most ${mostDays} days after from`)
  }
  return { from, to }
}

function daysDownTo(from: Day, to: Day): readonly Day[] {
  const count = Math.max(0, countDays(from, to))
  return Array.from({ length: count }, (_, index) => dayAfter(to, -index))
}

function toDay(
  { day, isOver }: Pick<DayTotals, 'day' | 'isOver'>,
  rows: readonly DayTotalsRow[] = [],
): DayTotals {
  return {
    day,
    isOver,
    computedAt: rows[0]?.computedAt ?? null,
    isFinal: rows[0]?.isFinal ?? false,
    totals: rows.flatMap(({ totals }) => (totals === null ? [] : [toTotals(totals)])),
  }
}

function toTotals({ account, mode, opened, won, lost, ...rest }: AccountTotals): MoneyTotals {
  const { gateway, currency, paid, refunded, returned } = rest
  return {
    gateway,
    merchantAccount: account === '' ? null : account,
    live: mode === 'unknown' ? null : mode === 'live',
    currency,
    paid,
    refunded,
    returned,
    disputesOpened: opened,
    disputesWon: won,
    disputesLost: lost,
  }
}
