import type { Generated } from 'kysely'
import type { IntervalUnit } from '../subscriptions/subscription.ts'
import type { NullableTimestamp, Timestamp } from './column-types.ts'

export interface UsageCountersTable {
  subscription_id: string
  quota: string
  /** Null: no limit. */
  units_limit: bigint | null
  used: Generated<bigint>
  /** Null, like the count: a window is a period of the subscription. */
  every_unit: IntervalUnit | null
  every_count: number | null
  anchor_at: Timestamp
  time_zone: string
  /** The period that the window is; null: the window has a length of its own, or there is none. */
  window_period_id: string | null
  window_starts_at: NullableTimestamp
  window_ends_at: NullableTimestamp
  percents: number[]
  reached: Generated<number>
  /** Its deferred events are numbered by it. */
  event_number: bigint
  look_at: NullableTimestamp
}

export interface UsageKeysTable {
  subscription_id: string
  quota: string
  key: string
  units: bigint
  counted_at: Timestamp
  /** Made for the one flush that wrote the row. */
  written_by: string
}
