import type { Generated } from 'kysely'
import type { Timestamp } from './column-types.ts'

export interface FailedAttemptsTable {
  id: string
  call_id: string | null
  delivery_id: string | null
  attempt: number
  listener: string | null
  exception: string
  created_at: Timestamp
}

export interface PaymentActivityTable {
  id: string
  payment_id: string
  operation: string
  result: string
  detail: string | null
  times: Generated<number>
  /** Of the last one. */
  duration_ms: number
  created_at: Timestamp
  updated_at: Timestamp
}
