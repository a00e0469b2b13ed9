import type { Timestamp } from './column-types.ts'

/** What a count is of: a minute of one process, or a longer time of all of them. */
export type CountSpan = 'minute' | 'quarter' | 'hour'

export interface CountsTable {
  span: CountSpan
  /** When it begins. */
  at: Timestamp
  metric: string
  /** Empty where the metric has none. */
  gateway: string
  label: string
  /** Empty of sums. */
  process: string
  value: number
}
