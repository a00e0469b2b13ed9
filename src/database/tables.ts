import type {
  EndpointsTable,
  FeedsTable,
  ForwardAttemptsTable,
  ForwardsTable,
} from './outbound-tables.ts'
import type { Generated, GeneratedAlways } from 'kysely'
import type { DisputeStatus } from '../payments/dispute.ts'
import type { PaymentMethodStatus } from '../payments/payment-method.ts'
import type { EventSource } from '../events/catalogue.ts'
import type { DeliveryState } from '../events/event-record.ts'
import type { CallState, PayloadKind } from '../events/webhook-call.ts'
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from './column-types.ts'
import type { InvoiceSeriesTable, InvoicesTable } from './invoice-tables.ts'
import type {
  SubscriptionPeriodsTable,
  SubscriptionsTable,
  SubscriptionTransitionsTable,
} from './subscription-tables.ts'
import type { CountsTable } from './count-tables.ts'
import type {
  OperatorActionsTable,
  OperatorSessionsTable,
  OperatorsTable,
} from './operator-tables.ts'
import type { DayTotalsTable, TotaledDaysTable } from './total-tables.ts'
import type { RunItemsTable, RunsTable } from './run-tables.ts'
import type { UsageCountersTable, UsageKeysTable } from './usage-tables.ts'
import type { Cause, CheckoutState, PaymentStatus, PaymentType } from '../payments/payment.ts'
import type { ReviewCallsTable, ReviewsTable } from './review-tables.ts'

export interface PaymentsTable {
  id: string
  type: Generated<PaymentType>
  parent_id: string | null
  gateway: string
  merchant_account: string | null
  live: boolean | null
  status: Generated<PaymentStatus>
  amount: bigint
  currency: string
  payable_type: string
  payable_id: string
  description: string | null
  customer: NullableJsonText
  metadata: NullableJsonText
  return_url: string | null
  checkout_reference: string | null
  provider_reference: string | null
  /** The provider's id of the subscription that the payment started; null on its renewals. */
  subscription_reference: string | null
  /** The period of a subscription that it pays for: see subscriptions/period. */
  period_id: string | null
  /** The card saved with a payment of a period, once the subscription has taken note of it. */
  saved_card_id: string | null
  /** The document of our own that is marked once it is paid; of a period, the period knows it. */
  invoice_id: string | null
  checkout: Generated<CheckoutState>
  checkout_url: string | null
  /** What a provider answered when it did not do what was requested. */
  operation_error: string | null
  /** Why it was declined, in the provider's code. */
  decline_code: string | null
  save_card: Generated<boolean>
  payment_method_id: string | null
  handed_at: NullableTimestamp
  /** When the provider answered the request, or failed to. */
  answered_at: NullableTimestamp
  /** When it is polled; null: no more. */
  next_poll_at: NullableTimestamp
  /** Why the last poll had no answer. */
  poll_error: string | null
  /** Made for the one call that wrote the row; null if a report wrote it. */
  written_by: string | null
  expires_at: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

export interface PaymentTransitionsTable {
  id: string
  payment_id: string
  payment_type: Generated<PaymentType>
  from_status: PaymentStatus
  to_status: PaymentStatus
  cause: Cause
  webhook_call_id: string | null
  at: Timestamp
}

/** The columns that make a row its own queue entry. */
export interface LeaseColumns {
  attempts: Generated<number>
  /** Times a worker died, or was cut off, while holding the row. */
  leases_lost: Generated<number>
  /** Times the row went back without using an attempt: a deadlock, a lost connection. */
  times_returned: Generated<number>
  next_attempt_at: Timestamp
  lease_token: string | null
  lease_until: NullableTimestamp
  exception: string | null
}

export interface WebhookCallsTable extends LeaseColumns {
  id: string
  gateway: string
  queue: string
  url: string
  headers: JsonText
  kind: PayloadKind
  payload: NullableJsonText
  body: Buffer | null
  body_encrypted: Generated<boolean>
  state: Generated<CallState>
  outcome: NullableJsonText
  /** Keys of the events that the call claimed. */
  dedup_claims: Generated<string>
  needs_review: Generated<boolean>
  payment_id: string | null
  /** What an Ignored `unknown_payment` call waits for: see outcomes/waiting-calls. */
  awaiting: string | null
  /** Another name of the same payment: whichever comes first ends the wait. */
  awaiting_also: string | null
  received_at: Timestamp
  processed_at: NullableTimestamp
}

export interface EventsTable {
  id: string
  dedup_key: string
  type: string
  payment_id: string | null
  payment_method_id: string | null
  subscription_id: string | null
  invoice_id: string | null
  webhook_call_id: string | null
  source: EventSource
  data: JsonText
  superseded: Generated<boolean>
  created_at: Timestamp
  /** Its place in the feed; null until it is numbered, which is after its commit. */
  position: Generated<bigint | null>
}

/** An event that is due to a queued listener. */
export interface DeliveriesTable extends LeaseColumns {
  id: string
  event_id: string
  listener: string
  queue: string
  state: Generated<DeliveryState>
  created_at: Timestamp
  processed_at: NullableTimestamp
}

/** An event that has yet to be claimed: see queue/deferred-events. */
export interface DeferredEventsTable extends LeaseColumns {
  /** The id that the event will have. */
  id: string
  dedup_key: string
  type: string
  queue: string
  /** It was written with the change that it tells of. */
  outbox: GeneratedAlways<boolean>
  state: Generated<DeliveryState>
  payment_id: string | null
  payment_method_id: string | null
  subscription_id: string | null
  invoice_id: string | null
  data: NullableJsonText
  /** Events of a subscription are dispatched in this order. */
  event_number: number | null
  /** Those of a quota have an order of their own: not that of their subscription. */
  quota: string | null
  quota_event: bigint | null
  /** The call by which an event of the outbox came. */
  webhook_call_id: string | null
  cause: Cause
  created_at: Timestamp
  processed_at: NullableTimestamp
}

export interface PaymentMethodsTable {
  id: string
  gateway: string
  merchant_account: string | null
  live: boolean | null
  status: PaymentMethodStatus
  provider_reference: string
  customer_reference: string | null
  payment_id: string | null
  kind: string | null
  brand: string | null
  last_four: string | null
  expiry_month: number | null
  expiry_year: number | null
  /** Encrypted; null if no key is configured, and once the card is detached. */
  token: Buffer | null
  created_at: Timestamp
  updated_at: Timestamp
}

export interface DisputesTable {
  id: string
  payment_id: string
  gateway: string
  provider_reference: string
  reversal_reference: string | null
  kind: string | null
  status: DisputeStatus
  by_refund: Generated<boolean>
  amount: bigint | null
  currency: string | null
  created_at: Timestamp
  updated_at: Timestamp
}

export interface ListenersTable {
  name: string
  event_types: string[]
  queued: boolean
  registered_at: Timestamp
}

export interface SchedulesTable {
  name: string
  next_run_at: Timestamp
  lease_token: string | null
  lease_until: NullableTimestamp
  last_run_at: NullableTimestamp
  last_error: string | null
  /** Why nothing is done although it is due; null: it is done. */
  held_reason: string | null
}

export interface WorkersTable {
  id: string
  seen_at: Timestamp
}

/** What a payment is looked up by: see payment-keys.ts. */
export interface PaymentKeysTable {
  key: Buffer
  created_at: Timestamp
  payment_id: string
}

/** The last payment that a walk over all of them has come to. */
export interface WalksTable {
  name: string
  created_at: Timestamp
  payment_id: string
}

export interface Tables {
  'billing.payments': PaymentsTable
  'billing.payment_transitions': PaymentTransitionsTable
  'billing.webhook_calls': WebhookCallsTable
  'billing.events': EventsTable
  'billing.feeds': FeedsTable
  'billing.endpoints': EndpointsTable
  'billing.forwards': ForwardsTable
  'billing.forward_attempts': ForwardAttemptsTable
  'billing.deliveries': DeliveriesTable
  'billing.deferred_events': DeferredEventsTable
  'billing.payment_methods': PaymentMethodsTable
  'billing.disputes': DisputesTable
  'billing.listeners': ListenersTable
  'billing.schedules': SchedulesTable
  'billing.workers': WorkersTable
  'billing.payment_keys': PaymentKeysTable
  'billing.walks': WalksTable
  'billing.subscriptions': SubscriptionsTable
  'billing.subscription_periods': SubscriptionPeriodsTable
  'billing.subscription_transitions': SubscriptionTransitionsTable
  'billing.usage_counters': UsageCountersTable
  'billing.usage_keys': UsageKeysTable
  'billing.reviews': ReviewsTable
  'billing.review_calls': ReviewCallsTable
  'billing.invoices': InvoicesTable
  'billing.invoice_series': InvoiceSeriesTable
  'billing.counts': CountsTable
  'billing.failed_attempts': FailedAttemptsTable
  'billing.payment_activity': PaymentActivityTable
  'billing.operators': OperatorsTable
  'billing.operator_sessions': OperatorSessionsTable
  'billing.operator_actions': OperatorActionsTable
  'billing.refusals': RefusalsTable
  'billing.runs': RunsTable
  'billing.run_items': RunItemsTable
  'billing.totaled_days': TotaledDaysTable
  'billing.day_totals': DayTotalsTable
}

interface FailedAttemptsTable {
  id: string
  call_id: string | null
  delivery_id: string | null
  attempt: number
  listener: string | null
  exception: string
  created_at: Timestamp
}

interface PaymentActivityTable {
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

/** What refused callbacks looked like: see refusals.ts. */
interface RefusalsTable {
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
