import type { CallsQuery, WebhookCall } from '../database/calls.ts'
import type { EventRecord, EventsQuery } from '../database/events.ts'
import type { Page } from '../database/page.ts'
import type { PaymentsQuery, PaymentTransition } from '../database/payments.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Capabilities } from '../gateways/gateway.ts'
import type { Answer } from '../intake/responses.ts'
import type { IncomingCall } from '../intake/receive.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { CreatePaymentInput } from '../processing/create-payment.ts'
import type { Listener, ListenerOptions, QueuedListener } from '../processing/listener.ts'
import type { KnownListener } from '../processing/known-listeners.ts'
import type { Worker } from '../processing/worker.ts'
import type { PruneResult } from '../upkeep/prune.ts'
import type { Readiness } from '../upkeep/readiness.ts'
import type { FailedQuery, ReplayFailedResult } from '../upkeep/replay-failed.ts'

/** What is known of a registered gateway: where its callbacks go, and whether it is configured. */
export interface GatewayDescription {
  readonly name: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly scheme: string
  /** The callback URL of the gateway. */
  readonly webhook_url: string
  /** Whether that URL must be registered on the gateway's side. */
  readonly webhook_requires_dashboard_setup: boolean
  /** Where it need not be: the field of a payment request that carries the URL. */
  readonly callbackUrlField: string | null
  readonly configured: boolean
  readonly capabilities: Capabilities
}

/** A payment with all that happened to it, each list oldest first. */
export interface PaymentDetails extends Payment {
  readonly transitions: readonly PaymentTransition[]
  readonly events: readonly EventRecord[]
  readonly refunds: readonly Payment[]
  readonly disputes: readonly Dispute[]
  /** What was saved with this payment. */
  readonly paymentMethods: readonly PaymentMethod[]
}

/** What part of the work a process takes on. */
export interface WorkOptions {
  /** Names of the queues to take calls from; all of them if left out. */
  readonly queues?: readonly string[]
  /** Process nothing here, only sweep and run schedules: other processes do the work. */
  readonly upkeepOnly?: boolean
}

/** The service as a library: everything that the HTTP routes and the commands are made of. */
export interface BillingCore {
  /** Opens the database (migrating an embedded one) and checks that this process may work on it. */
  start(): Promise<void>
  /** The webhook pipeline: one callback in, one answer out. */
  receive(call: IncomingCall): Promise<Answer>
  /** By name or alias; only canonical names are enumerated. */
  gateways(): Readonly<Record<string, GatewayDescription>>
  /** Canonical name of a name or alias, if registered. */
  gatewayName(nameOrAlias: string): string | undefined
  /** The callback URL of a gateway, by name or alias. Error: gateway_unknown. */
  url(route: 'billing.webhook', params: { readonly gateway: string }): string
  /** Paths with the segment `{gateway}` that the webhook route answers at. */
  readonly webhookPaths: readonly string[]
  /** Origin of generated URLs, without a slash at the end. */
  readonly origin: string

  /**
   * Registers a listener; with `queued` it runs after the commit. Errors: listener_unnamed,
   * listener_duplicate, listener_too_late once processing has begun.
   */
  on<T extends EventType>(
    type: T,
    listener: Listener<T>,
    options?: ListenerOptions & { readonly queued?: false },
  ): void
  on<T extends EventType>(
    type: T,
    listener: QueuedListener<T>,
    options: ListenerOptions & { readonly queued: true },
  ): void

  readonly payments: {
    /** Makes a pending payment. Errors: payment_invalid, payment_exists, gateway_unknown. */
    create(input: CreatePaymentInput): Promise<Payment>
    /** Undefined for an id that no payment has. */
    get(id: string): Promise<PaymentDetails | undefined>
    /** Charges, newest first. Error: cursor_invalid. */
    list(query?: PaymentsQuery): Promise<Page<Payment>>
  }
  readonly calls: {
    /** Undefined for an id that no stored call has. */
    get(id: string): Promise<WebhookCall | undefined>
    /** Newest first. Error: cursor_invalid. */
    list(query?: CallsQuery): Promise<Page<WebhookCall>>
    /** Processes the call again; its claims still hold. Errors: call_not_found, call_in_progress. */
    replay(id: string): Promise<void>
    /**
     * The same for every call, and every delivery to a queued listener, that has failed for good.
     * `onProgress` gets how many are back in the queue, and of how many.
     */
    replayFailed(
      query?: FailedQuery,
      onProgress?: (done: number, total: number) => void,
    ): Promise<ReplayFailedResult>
  }
  readonly events: {
    /** Newest first. Error: cursor_invalid. */
    list(query?: EventsQuery): Promise<Page<EventRecord>>
  }
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
  /** Deletes finished calls older than the retention window. */
  prune(onProgress?: (deletedCalls: number, totalCalls: number) => void): Promise<PruneResult>
  /** Whether this process can take callbacks now, and why not. Never throws. */
  readiness(): Promise<Readiness>
  /** Finishes what is under way, releases leases, closes the database. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type { FailedQuery, KnownListener, PruneResult, Readiness, ReplayFailedResult }
