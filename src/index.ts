export { createBilling } from './create-billing.ts'
export type { Billing } from './create-billing.ts'
export { defineConfig } from './billing/options.ts'
export type { BillingOptions, ListenerEntry, ListenersOption } from './billing/options.ts'
export type {
  BillingCore,
  GatewayDescription,
  KnownListener,
  PaymentDetails,
  PruneResult,
  Readiness,
  WorkOptions,
} from './billing/types.ts'
export { eventTypes } from './events/catalogue.ts'
export type { BillingEvent, EventOf, EventPayloads, EventType } from './events/catalogue.ts'
export { errorCatalogue, isQuittanceError, QuittanceError } from './kernel/errors.ts'
export type { ErrorCode } from './kernel/errors.ts'
export type { Money } from './kernel/money.ts'
export type { Cause, Payable, Payment, PaymentStatus, PaymentType } from './payments/payment.ts'
export type { OutcomeResult } from './payments/outcome.ts'
export type { CreatePaymentInput } from './processing/create-payment.ts'
export type {
  BoundBilling,
  Listener,
  ListenerContext,
  ListenerOptions,
  ListenerTransaction,
  QueuedListener,
  QueuedListenerContext,
} from './processing/listener.ts'
export type { Worker } from './processing/worker.ts'
export type { CallsQuery, WebhookCall } from './database/calls.ts'
export type { EventRecord, EventsQuery } from './database/events.ts'
export type { Page, PageQuery } from './database/page.ts'
export type { PaymentsQuery, PaymentTransition } from './database/payments.ts'
