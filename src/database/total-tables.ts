import type { ColumnType } from 'kysely'
import type { Timestamp } from './column-types.ts'

/** Whether money is real; `unknown`: the provider does not say. */
export type TotalMode = 'live' | 'test' | 'unknown'

/** A `date`: read as text only, by its name. */
type DayColumn = ColumnType<never, string, string>
/** A sum of money in minor units: `numeric`, as its text. */
type Sum = ColumnType<string, string, string>

/** As of when a day was computed. */
export interface TotaledDaysTable {
  day: DayColumn
  computed_at: Timestamp
}

export interface DayTotalsTable {
  day: DayColumn
  gateway: string
  /** Empty: the payments name none. */
  merchant_account: string
  mode: TotalMode
  currency: string
  paid_count: bigint
  paid_amount: Sum
  refunded_count: bigint
  refunded_amount: Sum
  /** Refunds that failed after they had been paid. */
  returned_count: bigint
  returned_amount: Sum
  disputes_opened: bigint
  disputes_won: bigint
  disputes_lost: bigint
}
