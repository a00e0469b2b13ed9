// Every type that a public signature names is exported here. The whole contract of a gateway is in
// `quittance/gateways`.
export { createBilling, sharedBilling } from './create-billing.ts'
export type { Billing } from './create-billing.ts'
export { defineConfig } from './billing/options.ts'
export type { Authenticate, Guarded, Operator } from './billing/authenticate.ts'
export type { BillingOptions, HttpOptions } from './billing/options.ts'
export type {
  BillingNames,
  BuiltinGateway,
  DeclaredNames,
  NamedGateways,
  PlanOption,
  WithNames,
} from './billing/declared-names.ts'
export type { Brand } from './billing/brand.ts'
export type { ConfigFileOptions } from './billing/config-file-options.ts'
export { defineListeners } from './billing/listeners-option.ts'
export type {
  InferredListeners,
  ListenedTo,
  ListenedToByName,
  ListenerEntry,
  ListenersOption,
  WithListeners,
} from './billing/listeners-option.ts'
export type { SellerOption } from './billing/setting-types.ts'
export type { DueQuery, SubscriptionOperations } from './billing/subscription-types.ts'
export type { GatewayPage } from './billing/gateway-pages.ts'
export type { Metrics } from './billing/types.ts'
export type {
  BackfillOptions,
  BackfillResult,
  AnsweredRequest,
  BillingCore,
  BrowserEventType,
  CheckoutForm,
  EndpointFault,
  FailedQuery,
  KnownListener,
  OwnEndpoint,
  PruneResult,
  QueuedListener,
  QueuedListenerContext,
  Readiness,
  ReconcileOptions,
  ReconcileResult,
  RegistrationResult,
  RegistrationState,
  ReplayFailedResult,
  WorkOptions,
} from './billing/types.ts'
export type { UsageOperations } from './billing/usage-types.ts'
export { eventTypes, isEventType } from './events/catalogue.ts'
export type {
  BillingEvent,
  EventOf,
  EventPayloads,
  EventSource,
  EventType,
} from './events/catalogue.ts'
export type { StoredData } from './events/event-data.ts'
export type { DeferredEvent, Delivery, DeliveryState, EventRecord } from './events/event-record.ts'
export type { FailedAttempt } from './events/failed-attempt.ts'
export type { InvoiceJson, InvoiceSnapshot } from './events/invoice-snapshot.ts'
export type {
  Period,
  PeriodJson,
  SubscriptionSnapshot,
  SubscriptionSnapshotJson,
} from './events/subscription-snapshot.ts'
export type {
  CallDetails,
  CallState,
  PayloadKind,
  ReceivedCall,
  WebhookCall,
} from './events/webhook-call.ts'
export type { PaymentActivity } from './payments/activity.ts'
export type { Gateway, RawRequest } from './gateways/gateway.ts'
export { throttle } from './http/throttle.ts'
export type { ThrottleOptions } from './http/throttle.ts'
export type { IncomingCall } from './intake/receive.ts'
export type { Answer } from './intake/responses.ts'
export type { CurrencyCode } from './kernel/currency-code.ts'
export { errorCatalogue, isQuittanceError, QuittanceError } from './kernel/errors.ts'
export type { ErrorCode } from './kernel/errors.ts'
export type { SnakeCase } from './kernel/field-names.ts'
export type { Log } from './kernel/log.ts'
export type { Money } from './kernel/money.ts'
export type { Tracer } from './kernel/spans.ts'
export type { Dispute, DisputeStatus } from './payments/dispute.ts'
export type {
  PaymentMethod,
  PaymentMethodDetails,
  PaymentMethodStatus,
} from './payments/payment-method.ts'
export type {
  Cause,
  CheckoutState,
  Payable,
  Payment,
  PaymentJson,
  PaymentStatus,
  PaymentTransition,
  PaymentType,
} from './payments/payment.ts'
export { hasAccess } from './subscriptions/access.ts'
export type { AccessFacts, AccessOptions } from './subscriptions/access.ts'
export type { UsageResult, UsageStanding } from './subscriptions/judge-usage.ts'
export type { QuotaTerms } from './subscriptions/quota.ts'
export type { IntervalInput } from './subscriptions/interval.ts'
export type {
  PeriodKind,
  PeriodNeeds,
  PeriodState,
  SubscriptionPeriod,
} from './subscriptions/period.ts'
export type {
  EndReason,
  Interval,
  IntervalUnit,
  ManagedBy,
  NextTerms,
  PauseReason,
  Subscription,
  SubscriptionStatus,
  SubscriptionTransition,
  Terms,
  WantedQuota,
  WantedQuotas,
} from './subscriptions/subscription.ts'
export { unusedAmount } from './subscriptions/unused-amount.ts'
export type { PaidPeriod, PaidTime } from './subscriptions/unused-amount.ts'
export type {
  Invoice,
  InvoiceBuyer,
  InvoiceIssuer,
  InvoiceLine,
  InvoiceParty,
  InvoicePeriod,
  InvoiceSeller,
  InvoiceStatus,
} from './invoices/invoice.ts'
export type { ExportInvoicesInput, InvoiceOperations } from './billing/invoice-types.ts'
export type { InvoiceLineInput, IssueInvoiceInput } from './money/invoice-input.ts'
export type { PaymentStanding, StandingState } from './payments/standing.ts'
export type { OutcomeResult } from './payments/outcome.ts'
export type { IgnoredReason, ReviewReason } from './payments/reasons.ts'
export type { Review, ReviewJson, ReviewState, StatedMoney } from './payments/review.ts'
export type { HandleReviewInput } from './billing/review-input.ts'
export type { CreateRefundInput } from './money/refund-input.ts'
export type { PollResult } from './money/poll-payment.ts'
export type { Owed, SubscriptionBill } from './money/subscription-bill.ts'
export type {
  CancelSubscriptionInput,
  ChangeSubscriptionInput,
  CreateSubscriptionInput,
  PauseSubscriptionInput,
  PaySubscriptionInput,
} from './money/subscription-input.ts'
export type { QuotaInput, QuotasInput } from './money/quota-rules.ts'
export type { UsageInput } from './usage/usage-input.ts'
export type { CreatePaymentInput, CustomerInput } from './checkout/payment-input.ts'
export type {
  BoundBilling,
  Listener,
  ListenerContext,
  ListenerOptions,
  ListenerTransaction,
} from './listeners/listener.ts'
export type { Worker } from './worker/worker.ts'
export type { Capabilities, GatewayDescription } from './wire/gateway.ts'
export type { QuotaUsage, QuotaUsageJson, RecordedUsage, UsageResultJson } from './wire/usage.ts'
export type { ListedPayment, ListedPaymentJson } from './wire/listed-payment.ts'
export type { SubscriptionDetails, SubscriptionDetailsJson } from './wire/subscription-details.ts'
export type {
  CreatedSubscription,
  ListedSubscription,
  SubscriptionJson,
} from './wire/subscription.ts'
export type { PaymentDetails, PaymentDetailsJson } from './wire/payment-details.ts'
export type { CallsQuery } from './database/list-calls.ts'
export type { EventsQuery } from './database/events.ts'
export type {
  EventHistory,
  EventOperations,
  FeedQuery,
  FeedResult,
  ReadEventsOptions,
} from './billing/event-types.ts'
export type { AttemptsQuery, ForwardsQuery } from './database/forwards.ts'
export type {
  CreatedEndpoint,
  EnableEndpointInput,
  EndpointOperations,
  ReplayInput,
} from './billing/endpoint-types.ts'
export type { InspectOperations, OverviewQuery } from './billing/inspect-types.ts'
export type { FailedCounts } from './database/failed-rows.ts'
export type { StuckKind, StuckSum } from './database/stuck-payments.ts'
export type { FailedReport, FailedReportQuery } from './inspect/failed.ts'
export type { FailedGroup, FailedKind } from './inspect/failed-groups.ts'
export type { Decisions, GatewayFacts, UsedSecret } from './inspect/gateway-facts.ts'
export type { Severity } from './health/fact.ts'
export type { Problem } from './health/facts.ts'
export type {
  Overview,
  OverviewBacklog,
  OverviewBucket,
  OverviewCounts,
  OverviewSpan,
} from './health/overview.ts'
export type { LastAccepted } from './health/sources.ts'
export type { Percentiles } from './inspect/percentile.ts'
export type { ReasonCount } from './inspect/refusals.ts'
export type { StuckPayment, StuckQuery } from './inspect/stuck.ts'
export type { Timeline } from './inspect/timeline.ts'
export type { DayTotals, MoneyTotals, TotalsQuery } from './inspect/totals.ts'
export type { CountedMoney } from './database/day-totals.ts'
export type { TimelineEntry, TimelineGroup, TimelineMove } from './inspect/timeline-entry.ts'
export type { ScannedCalls, ScanQuery } from './inspect/scan-calls.ts'
export type { Found, FoundBy, FoundJson, FoundPayment, FoundRow, Hit } from './wire/found.ts'
export type { AddedOperator, OperatorOperations } from './billing/operator-types.ts'
export type { Refusals, RefusalsQuery } from './billing/inspect-types.ts'
export type { RefusalSample, StoredRefusal } from './database/refusals.ts'
export type { RefusalCount } from './inspect/count-refusals.ts'
export type { RunOperations } from './billing/run-types.ts'
export type { StartRunInput } from './billing/run-input.ts'
export type { Run, RunFilter, RunKind, RunState } from './wire/run.ts'
export type { ShownSettings } from './billing/inspect-types.ts'
export type { GatewaySetup, ShownCredential } from './billing/gateway-setup.ts'
export type { ShownSetting } from './billing/shown-settings.ts'
export type { KnownSchedule } from './database/list-schedules.ts'
export type { ActionsQuery } from './database/operator-actions.ts'
export type { RecordActionInput, RecordedAction } from './operators/actions.ts'
export type { AddOperatorInput } from './operators/operator-input.ts'
export type { ActionVia, OperatorAccount, OperatorAction, OperatorRole } from './wire/operator.ts'
export type { ChangeEndpointInput, CreateEndpointInput } from './outbound/endpoint-input.ts'
export type {
  DisabledReason,
  Endpoint,
  EndpointPayload,
  EndpointSource,
  EventForward,
  EventForwardAttempt,
  Forward,
  ForwardAttempt,
  ForwardState,
} from './events/endpoint.ts'
export type { Sent, SendResult } from './outbound/send.ts'
export type {
  FeedEvent,
  ListedEvent,
  ListedEventJson,
  OutgoingEventJson,
} from './wire/outgoing-event.ts'
export type { ReviewsQuery } from './database/list-reviews.ts'
export type { PaymentMethodsQuery } from './database/payment-methods.ts'
export type { Page, PageQuery } from './database/page.ts'
export type { PaymentLookup } from './database/payment-keys.ts'
export type { PaymentsQuery } from './database/list-payments.ts'
export type { InvoicesQuery } from './database/list-invoices.ts'
export type { SubscriptionsQuery } from './database/subscriptions.ts'
