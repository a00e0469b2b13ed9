import type { Generated } from 'kysely'
import type { PeriodKind, PeriodNeeds, PeriodState } from '../subscriptions/period.ts'
import type {
  EndReason,
  IntervalUnit,
  ManagedBy,
  SubscriptionStatus,
} from '../subscriptions/subscription.ts'
import type { NullableJsonText, NullableTimestamp, Timestamp } from './column-types.ts'

export interface SubscriptionsTable {
  id: string
  managed_by: ManagedBy
  gateway: string
  merchant_account: string | null
  live: boolean | null
  provider_reference: string | null
  status: SubscriptionStatus
  plan: string | null
  payable_type: string
  payable_id: string
  description: string | null
  customer: NullableJsonText
  metadata: NullableJsonText
  amount: bigint
  currency: string
  every_unit: IntervalUnit
  every_count: number
  next_terms: NullableJsonText
  due_quotas: NullableJsonText
  time_zone: string
  anchor_at: NullableTimestamp
  anchor_number: number
  payment_method_id: string | null
  grace_access: boolean
  trial_ends_at: NullableTimestamp
  paid_until: NullableTimestamp
  cancel_at: NullableTimestamp
  pause_at: NullableTimestamp
  resume_at: NullableTimestamp
  suspended_at: NullableTimestamp
  ended_at: NullableTimestamp
  end_reason: EndReason | null
  event_number: Generated<number>
  next_action_at: NullableTimestamp
  lease_token: string | null
  lease_until: NullableTimestamp
  action_error: string | null
  terms_by: 'payment' | 'provider' | null
  sync_wanted_at: NullableTimestamp
  synced_at: NullableTimestamp
  /** What the caller gave to make it: a repeated creation must give the same. */
  content: NullableJsonText
  /** Made for the one call that wrote the row. */
  written_by: string | null
  created_at: Timestamp
  updated_at: Timestamp
}

export interface SubscriptionPeriodsTable {
  id: string
  subscription_id: string
  number: number
  kind: PeriodKind
  state: PeriodState
  starts_at: Timestamp
  ends_at: Timestamp
  nominal_starts_at: Timestamp
  amount: bigint
  currency: string
  status_before: SubscriptionStatus
  skipped_periods: Generated<number>
  time_assumed: Generated<boolean>
  payments_made: Generated<number>
  declines: Generated<number>
  not_made: Generated<number>
  first_failed_at: NullableTimestamp
  next_attempt_at: NullableTimestamp
  needs: Generated<PeriodNeeds>
  paid_payment_id: string | null
  paid_at: NullableTimestamp
  last_notice: number | null
}

export interface SubscriptionTransitionsTable {
  id: string
  subscription_id: string
  from_status: SubscriptionStatus | null
  to_status: SubscriptionStatus
  reason: string
  period_id: string | null
  at: Timestamp
}
