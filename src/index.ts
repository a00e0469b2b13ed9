// Every type that a public signature names is exported here. The whole contract of a gateway is in
// `quittance/gateways`.
export { createBilling, sharedBilling } from './create-billing.ts'
export type { Billing } from './create-billing.ts'
export { defineConfig } from './billing/options.ts'
export type { Authenticate, Guarded, Operator } from './billing/authenticate.ts'
export type { BillingOptions, HttpOptions } from './billing/options.ts'
export type { Brand } from './billing/brand.ts'
export type { ConfigFileOptions } from './billing/config-file-options.ts'
export type {
  ListenedTo,
  ListenedToByName,
  ListenerEntry,
  ListenersOption,
  WithListeners,
} from './billing/listeners-option.ts'
export type { GatewayPage } from './billing/gateway-pages.ts'
export type {
  BackfillOptions,
  BackfillResult,
  BillingCore,
  BrowserEventType,
  CheckoutForm,
  EndpointFault,
  FailedQuery,
  KnownListener,
  OwnEndpoint,
  PruneResult,
  Readiness,
  ReconcileOptions,
  ReconcileResult,
  RegistrationResult,
  RegistrationState,
  ReplayFailedResult,
  WorkOptions,
} from './billing/types.ts'
export { eventTypes, firedEventTypes, isEventType } from './events/catalogue.ts'
export type {
  BillingEvent,
  EventOf,
  EventPayloads,
  EventSource,
  EventType,
  FiredEventType,
  InvoiceSnapshot,
  SubscriptionSnapshot,
} from './events/catalogue.ts'
export type { DeferredEvent, Delivery, DeliveryState, EventRecord } from './events/event-record.ts'
export type { CallDetails, CallState, PayloadKind, WebhookCall } from './events/webhook-call.ts'
export type { Gateway, RawRequest } from './gateways/gateway.ts'
export { throttle } from './http/throttle.ts'
export type { ThrottleOptions } from './http/throttle.ts'
export type { IncomingCall } from './intake/receive.ts'
export type { Answer } from './intake/responses.ts'
export { errorCatalogue, isQuittanceError, QuittanceError } from './kernel/errors.ts'
export type { ErrorCode } from './kernel/errors.ts'
export type { SnakeCase } from './kernel/field-names.ts'
export type { Log } from './kernel/log.ts'
export type { Money } from './kernel/money.ts'
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
export type { IgnoredReason, OutcomeResult } from './payments/outcome.ts'
export type { CreateRefundInput } from './money/refund-input.ts'
export type { PollResult } from './money/poll-payment.ts'
export type { CreatePaymentInput } from './checkout/payment-input.ts'
export type {
  BoundBilling,
  Listener,
  ListenerContext,
  ListenerOptions,
  ListenerTransaction,
  QueuedListener,
  QueuedListenerContext,
} from './listeners/listener.ts'
export type { Worker } from './worker/worker.ts'
export type { Capabilities, GatewayDescription } from './wire/gateway.ts'
export type { ListedPayment, ListedPaymentJson } from './wire/listed-payment.ts'
export type { PaymentDetails, PaymentDetailsJson } from './wire/payment-details.ts'
export type { CallsQuery } from './database/calls.ts'
export type { EventsQuery } from './database/events.ts'
export type { PaymentMethodsQuery } from './database/payment-methods.ts'
export type { Page, PageQuery } from './database/page.ts'
export type { PaymentLookup } from './database/payment-keys.ts'
export type { PaymentsQuery } from './database/list-payments.ts'
