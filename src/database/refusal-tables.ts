import type { Timestamp } from './column-types.ts'

/** What refused callbacks looked like: see refusals.ts. */
export interface RefusalsTable {
  /** Empty: the callback named none that there is. */
  gateway: string
  reason: string
  slot: number
  at: Timestamp
  /** What it called its gateway, if there is none of that name. */
  name: string | null
  network: string | null
  body_bytes: number | null
  content_type: string | null
  header_names: string[]
  /** Null: the gateway has no header for signatures. */
  has_signature: boolean | null
  /** How far its time lies ahead of ours. */
  clock_skew_seconds: number | null
}
