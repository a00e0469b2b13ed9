import type { CallsQuery } from '../database/list-calls.ts'
import type { Page } from '../database/page.ts'
import type { PaymentsQuery } from '../database/list-payments.ts'
import type { PaymentMethodsQuery } from '../database/payment-methods.ts'
import type { ReviewsQuery } from '../database/list-reviews.ts'
import type { EventOf, EventType } from '../events/catalogue.ts'
import type { ListedPayment } from '../wire/listed-payment.ts'
import type { PaymentDetails } from '../wire/payment-details.ts'
import type { CallDetails, WebhookCall } from '../events/webhook-call.ts'
import type { Answer } from '../intake/responses.ts'
import type { IncomingCall } from '../intake/receive.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { PaymentStanding } from '../payments/standing.ts'
import type { scrubbing } from '../kernel/secret.ts'
import type { Review } from '../payments/review.ts'
import type { CreatePaymentInput } from '../checkout/payment-input.ts'
import type { Listener, ListenerContext, ListenerOptions } from '../listeners/listener.ts'
import type { KnownListener } from '../listeners/known-listeners.ts'
import type { Worker } from '../worker/worker.ts'
import type { CreateRefundInput } from '../money/refund-input.ts'
import type { PollResult } from '../money/poll-payment.ts'
import type { BrowserEventType } from '../processing/browser-event.ts'
import type { CheckoutForm } from '../gateways/operations.ts'
import type { BackfillOptions, BackfillResult } from '../upkeep/backfill.ts'
import type { EndpointFault, OwnEndpoint, RegistrationState } from '../upkeep/read-registration.ts'
import type { RegistrationResult } from '../upkeep/register-webhook.ts'
import type { ReconcileOptions, ReconcileResult } from '../upkeep/reconcile.ts'
import type { Brand } from './brand.ts'
import type { BillingNames } from './declared-names.ts'
import type { EndpointOperations } from './endpoint-types.ts'
import type { EventOperations } from './event-types.ts'
import type { GatewayPage } from './gateway-pages.ts'
import type { InvoiceOperations } from './invoice-types.ts'
import type { HandleReviewInput } from './review-input.ts'
import type { OperatorOperations } from './operator-types.ts'
import type { InspectOperations } from './inspect-types.ts'
import type { RunOperations } from './run-types.ts'
import type { SubscriptionOperations } from './subscription-types.ts'
import type { UsageOperations } from './usage-types.ts'
import type { PruneResult } from '../upkeep/prune.ts'
import type { Readiness } from '../health/readiness.ts'
import type { GatewayDescription } from '../wire/gateway.ts'
import type { FailedQuery, ReplayFailedResult } from '../upkeep/replay-failed.ts'

/** Which part of the work a process does. */
export interface WorkOptions {
  /** Names of the queues to take calls from; all queues if left out. */
  readonly queues?: readonly string[]
  /** Process nothing here, only sweep and run schedules: other processes do the rest. */
  readonly upkeepOnly?: boolean
}

/** Metrics as text, in the format of Prometheus. */
export interface Metrics {
  readonly contentType: string
  readonly text: string
}

/** What is known of a callback that was answered by somebody else. */
export type AnsweredRequest = Pick<IncomingCall, 'headers' | 'sender'>

/** What a queued listener gets besides its event. It runs after the commit, with no transaction open. */
export interface QueuedListenerContext extends Pick<ListenerContext, 'idempotencyKey' | 'signal'> {
  /** That of the process which runs the listener. It may ask providers, such as for a refund. */
  readonly billing: BillingCore
}

/** Runs after the commit; if it throws, it alone is retried. */
export type QueuedListener<T extends EventType> = (
  event: EventOf<T>,
  context: QueuedListenerContext,
) => unknown

/** The service as a library: everything behind the HTTP routes and the commands. */
export interface BillingCore<Names extends BillingNames = BillingNames> {
  /** Opens the database (migrating an embedded one) and checks that this process may work on it. */
  start(): Promise<void>
  /** The webhook pipeline: one callback in, one answer out. */
  receive(call: IncomingCall): Promise<Answer>
  /**
   * Counts a callback that was answered without `receive`. With its headers, in lower case, a sample
   * of it may be kept for `inspect.refusals`, if it was not accepted.
   */
  answered(gateway: string, status: number, request?: AnsweredRequest): void
  /** By canonical name; aliases find a gateway, too, but are not listed. */
  gateways(): Readonly<Record<string, GatewayDescription>>
  /** Canonical name of a name or alias, if registered. */
  gatewayName(nameOrAlias: string): string | undefined
  /**
   * The size in bytes of the largest callback that a gateway accepts, by name or alias, if it
   * states one.
   */
  maxBodyBytes(nameOrAlias: string): number | undefined
  /** The callback URL of a gateway, by name or alias. Error: gateway_unknown. */
  url(route: 'billing.webhook', params: { readonly gateway: string }): string
  /** Paths with the segment `{gateway}` that the webhook route answers. */
  readonly webhookPaths: readonly string[]
  /** Origin of generated URLs, without a slash at the end. */
  readonly origin: string
  /** Whose pages payers see. */
  readonly brand: Brand
  /** The gateways' pages for payers' browsers, at each of their paths. */
  readonly pages: readonly GatewayPage[]

  /**
   * Registers a listener of one or several types of events under a name of its own. The database
   * remembers the name, so it must not change. With `queued` it runs after the commit. Errors:
   * listener_unnamed, listener_duplicate, event_type_unknown, listener_too_late once processing has
   * begun.
   */
  on<const T extends EventType>(
    types: T | readonly T[],
    name: string,
    listener: NoInfer<Listener<T>>,
    options?: ListenerOptions & { readonly queued?: false },
  ): void
  on<const T extends EventType>(
    types: T | readonly T[],
    name: string,
    listener: NoInfer<QueuedListener<T>>,
    options: ListenerOptions & { readonly queued: true },
  ): void

  readonly payments: {
    /**
     * Makes a pending payment and asks the provider for its checkout, or charges a saved card. With
     * an id of the caller's, a repeated call returns the same payment and sends no request. Errors:
     * payment_invalid, return_url_not_allowed, payment_exists, gateway_unknown,
     * gateway_not_configured, operation_unsupported, payment_method_unusable; checkout_refused and
     * checkout_unknown, after which the payment exists.
     */
    create(input: CreatePaymentInput<Names['gateway']>): Promise<Payment>
    /** Undefined for an id that no payment has. */
    get(id: string): Promise<PaymentDetails | undefined>
    /** The same payment without its history: one query instead of nine. */
    find(id: string): Promise<Payment | undefined>
    /**
     * Charges with what went back of them, newest first. Those of a gateway or a status are looked for
     * among the newest 20,000: a page may be short, or empty, although there is a next one. Errors:
     * query_invalid, cursor_invalid.
     */
    list(query?: PaymentsQuery): Promise<Page<ListedPayment>>
    /** The present statuses of payments, in one query; unknown ids are left out. */
    statuses(ids: readonly string[]): Promise<ReadonlyMap<string, PaymentStatus>>
    /**
     * How payments stand, in words for people: `refunded`, `partly_refunded` or `disputed`, where the
     * status is `paid` for ever. Unknown ids are left out.
     */
    standings(ids: readonly string[]): Promise<ReadonlyMap<string, PaymentStanding>>
    /**
     * Polls the payment at its provider and applies the answer. Errors: payment_not_found,
     * operation_unsupported, gateway_not_configured, those of the provider.
     */
    poll(id: string): Promise<PollResult>
    /**
     * Voids the checkout if the provider can, and makes a pending payment `canceled`. Errors:
     * payment_not_found, payment_not_cancelable, those of the provider.
     */
    cancel(id: string): Promise<Payment>
    /** The form with which the payer's browser gets to the checkout, if the gateway needs one. */
    checkoutForm(payment: Payment): CheckoutForm | undefined
    /** Whether a payer may be sent on to this URL after the checkout. */
    allowsReturn(url: string): boolean
    /**
     * Dispatches what a payer's browser did, once per payment; it changes no payment. False if a
     * listener failed: the event is dispatched when the browser does so again.
     */
    signal(type: BrowserEventType, payment: Payment): Promise<boolean>
  }
  readonly refunds: {
    /**
     * Refunds a paid payment: an amount, or all that is left. Returns the refund's row. Errors:
     * payment_not_found, payment_not_refundable, refund_invalid, refund_exists, refund_too_large,
     * operation_unsupported, gateway_not_configured; refund_refused; and refund_unknown, after
     * which the row exists and the refund is never requested twice.
     */
    create(paymentId: string, input?: CreateRefundInput): Promise<Payment>
  }
  readonly paymentMethods: {
    /** Undefined for an id that no saved card has. */
    get(id: string): Promise<PaymentMethod | undefined>
    /** Saved cards, removed ones too, newest first. Errors: query_invalid, cursor_invalid. */
    list(query?: PaymentMethodsQuery): Promise<Page<PaymentMethod>>
    /**
     * Removes a saved card, at the provider too if its API can, and deletes its token;
     * PaymentMethodDetached fires, once. Nothing is charged once this returns. Errors:
     * payment_method_not_found, gateway_not_configured, those of the provider, after which the card
     * is still saved here; to remove it again is safe.
     */
    remove(id: string): Promise<PaymentMethod>
  }
  readonly subscriptions: SubscriptionOperations<Names>
  readonly usage: UsageOperations<Names['quota']>
  readonly invoices: InvoiceOperations
  readonly calls: {
    /** Undefined for an id that no stored call has. */
    get(id: string): Promise<CallDetails | undefined>
    /** The same call without what was received and what failed. */
    find(id: string): Promise<WebhookCall | undefined>
    /** Newest first. Errors: query_invalid, cursor_invalid. */
    list(query?: CallsQuery): Promise<Page<WebhookCall>>
    /**
     * Processes the call again; its claims still hold. Errors: call_not_found, call_in_progress.
     */
    replay(id: string): Promise<void>
    /**
     * Replays every call, delivery to a queued listener and deferred event that has failed for
     * good. `onProgress` gets how many are requeued so far, and of how many. Error: query_invalid.
     */
    replayFailed(
      query?: FailedQuery,
      onProgress?: (done: number, total: number) => void,
    ): Promise<ReplayFailedResult>
  }
  readonly reviews: {
    /** Undefined for an id that no review has. */
    get(id: string): Promise<Review | undefined>
    /** What a person must look at, newest first. Errors: query_invalid, cursor_invalid. */
    list(query?: ReviewsQuery): Promise<Page<Review>>
    /**
     * A person has looked: the review is handled, and its calls lose their mark. The same said
     * again opens nothing. To repeat it with the same content is safe. Errors: review_invalid,
     * review_not_found; review_handled, if another person was first.
     */
    handle(id: string, input: HandleReviewInput): Promise<Review>
  }
  readonly runs: RunOperations
  readonly events: EventOperations
  readonly endpoints: EndpointOperations
  readonly operators: OperatorOperations
  readonly inspect: InspectOperations
  readonly listeners: {
    /** Every listener that the database remembers, present in this process or not. */
    list(): Promise<readonly KnownListener[]>
    /** For a listener that was removed for good. Error: listener_not_found. */
    forget(name: string): Promise<void>
  }

  /** Applies pending migrations; returns their names. */
  migrate(): Promise<readonly string[]>
  /** Starts processing in this process: calls, deliveries, sweeper, schedules. */
  work(options?: WorkOptions): Promise<Worker>
  /** Stores the provider's events that never reached us, to be processed like callbacks. */
  backfill(options: BackfillOptions): Promise<BackfillResult>
  readonly registration: {
    /** The callback URLs registered at the provider, compared with the configuration. */
    read(gateway: string): Promise<RegistrationState>
    /** Makes the provider send exactly the events that we handle to our callback URL. */
    register(gateway: string): Promise<RegistrationResult>
    /** Removes endpoints at the provider, by the provider's ids. */
    remove(gateway: string, ids: readonly string[]): Promise<void>
  }
  /** Polls every payment that is due, and defers the events that were never dispatched. */
  reconcile(options?: ReconcileOptions): Promise<ReconcileResult>
  /** Deletes finished calls older than the retention window, and old keys of usage. */
  prune(onProgress?: (deletedCalls: number, totalCalls: number) => void): Promise<PruneResult>
  /** What Prometheus reads: the counters of this process, and what stands in the database. */
  metrics(): Promise<Metrics>
  /** Whether this process can take callbacks now, and if not, why. Never throws. */
  readiness(): Promise<Readiness>
  /**
   * The same operations for pages that people look at, such as those of an admin: what they read goes
   * over two connections of their own, and a statement ends after 2 s. What moves money or dispatches
   * events keeps the others. Callbacks and work under way never wait for a look. It is closed with
   * this one.
   */
  forPeople(): BillingCore
  /** Blanks its secrets out: for `quittance/console`, which has a log of its own. */
  readonly [scrubbing]: (text: string) => string
  /** Finishes work in progress, releases leases, closes the database. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type { BrowserEventType, CheckoutForm, CreateRefundInput, PollResult }
export type { BackfillOptions, BackfillResult, RegistrationResult, RegistrationState }
export type { EndpointFault, OwnEndpoint }
export type { ReconcileOptions, ReconcileResult }
export type { FailedQuery, KnownListener, PruneResult, Readiness, ReplayFailedResult }
