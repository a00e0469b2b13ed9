import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { EventOf, EventType } from '../events/catalogue.ts'
import type { Page } from '../database/page.ts'
import type { PaymentsQuery } from '../database/list-payments.ts'
import type { SubscriptionsQuery } from '../database/subscriptions.ts'
import type { AccessOptions } from '../subscriptions/access.ts'
import type { Payable, Payment } from '../payments/payment.ts'
import type { CreatePaymentInput } from '../checkout/payment-input.ts'
import type { ListedPayment } from '../wire/listed-payment.ts'
import type { ListedSubscription } from '../wire/subscription.ts'

/**
 * The transaction in which the event is claimed: what a listener writes through it commits together
 * with the claim, or not at all. Kysely for any tables (`tx.withTables<...>()`), plain SQL by
 * `query`, and the `pg` client for other query builders, e.g. `drizzle(tx.client)`. A transaction
 * begun inside is a savepoint; the client refuses to end what it did not begin, and to be released.
 */
export type ListenerTransaction = Kysely<unknown> & {
  query<Row extends pg.QueryResultRow>(
    text: string,
    params?: readonly unknown[],
  ): Promise<pg.QueryResult<Row>>
  readonly client: pg.PoolClient
}

/** What a listener may do with payments and subscriptions, inside its transaction. */
export interface BoundBilling {
  readonly payments: {
    create(input: CreatePaymentInput): Promise<Payment>
    get(id: string): Promise<Payment | undefined>
    list(query?: PaymentsQuery): Promise<Page<ListedPayment>>
  }
  /** To change one, use a queued listener: it may ask a provider, which no transaction waits for. */
  readonly subscriptions: {
    /**
     * Whether any subscription of this payable gives access now. In production those of test money
     * count only with `test: true`.
     */
    access(payable: Payable, options?: AccessOptions): Promise<boolean>
    list(query?: SubscriptionsQuery): Promise<Page<ListedSubscription>>
  }
}

/** What a listener gets besides its event. */
export interface ListenerContext {
  readonly tx: ListenerTransaction
  /** Bound to `tx`; the outer `billing` refuses inside a listener. */
  readonly billing: BoundBilling
  /** Runs after the commit, best effort: a crash loses it. Durable work: `queued: true`. */
  afterCommit(work: () => unknown): void
  /**
   * The same at every retry of this event for this listener: pass it to services that do not roll
   * back.
   */
  readonly idempotencyKey: string
  /** Aborts when the listeners' time is up. */
  readonly signal: AbortSignal
}

/**
 * Runs inside the transaction that claims the event; if it throws, it is rolled back and retried.
 */
export type Listener<T extends EventType> = (event: EventOf<T>, context: ListenerContext) => unknown

/** How a listener is registered. */
export interface ListenerOptions {
  /**
   * It also hears of superseded events: a decline whose payment was paid before the decline could
   * be dispatched (`event.superseded`). By default it does not: it would downgrade a paid order.
   */
  readonly superseded?: boolean
}
