import type { Generated } from 'kysely'
import type { ReviewState } from '../payments/review.ts'
import type { NullableTimestamp, Timestamp } from './column-types.ts'

/** What a person must look at: see reviews.ts. */
export interface ReviewsTable {
  id: string
  /** A hash of what was found: the same again finds its row. */
  key: Buffer
  gateway: string
  reason: string
  detail: string | null
  payment_id: string | null
  period_id: string | null
  subscription_id: string | null
  /** The call that said it first; it may have been deleted. */
  webhook_call_id: string | null
  stated_reference: string | null
  stated_amount: bigint | null
  stated_currency: string | null
  expected_amount: bigint | null
  expected_currency: string | null
  times: Generated<number>
  state: Generated<ReviewState>
  operator: string | null
  note: string | null
  version: Generated<number>
  created_at: Timestamp
  last_at: Timestamp
  handled_at: NullableTimestamp
}

/** Which calls said what a review is about. */
export interface ReviewCallsTable {
  call_id: string
  review_id: string
}
