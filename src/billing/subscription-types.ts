import type { Page } from '../database/page.ts'
import type { SubscriptionsQuery } from '../database/subscriptions.ts'
import type {
  CancelSubscriptionInput,
  ChangeSubscriptionInput,
  CreateSubscriptionInput,
  PauseSubscriptionInput,
  PaySubscriptionInput,
} from '../money/subscription-input.ts'
import type { AccessOptions } from '../subscriptions/access.ts'
import type { Payable, Payment } from '../payments/payment.ts'
import type { SubscriptionBill } from '../money/subscription-bill.ts'
import type { SubscriptionDetails } from '../wire/subscription-details.ts'
import type { BillingNames } from './declared-names.ts'
import type { CreatedSubscription, ListedSubscription } from '../wire/subscription.ts'

/** Which subscriptions something is to be done for soon. */
export interface DueQuery {
  /** Until then; now if left out. */
  readonly until?: Date
  /** How many, 1 to 100; 20 if left out. */
  readonly limit?: number
}

/** `billing.subscriptions`: what is sold for as long as each period is paid. */
export interface SubscriptionOperations<Names extends BillingNames = BillingNames> {
  /**
   * Makes a subscription and begins its first period: charges the saved card, or opens a checkout
   * that saves one (`payment.checkoutUrl`). In a trial nothing is to be paid yet. With an id of the
   * caller's it is repeatable. A charge that is declined throws nothing: the subscription stays
   * `incomplete` and its pay page takes another card. With `managedBy: 'provider'` it opens a
   * checkout in any case, on which it begins at the provider, and with it a trial. Errors:
   * subscription_invalid, subscription_exists, gateway_unknown, gateway_not_configured,
   * operation_unsupported, payment_method_unusable, return_url_not_allowed, checkout_refused,
   * checkout_unknown.
   */
  create(
    input: CreateSubscriptionInput<Names['gateway'], Names['plan']>,
  ): Promise<CreatedSubscription>
  /** With its history. Undefined for an id that no subscription has. */
  get(id: string): Promise<SubscriptionDetails | undefined>
  /** Newest first. Errors: query_invalid, cursor_invalid. */
  list(query?: SubscriptionsQuery): Promise<Page<ListedSubscription>>
  /**
   * Whether any subscription of this payable gives access now. In production those of test money count
   * only with `test: true`. Error: query_invalid.
   */
  access(payable: Payable, options?: AccessOptions): Promise<boolean>
  /**
   * Ends it with what is paid, or now. If a charge is under way, `period_end` waits for it: paid, it
   * ends with the new period; declined, at once. `now` does not: money of that charge is a review,
   * period_void. If the provider manages it, it is asked for that once, and this returns how the
   * subscription stands there since; one that nobody has begun ends at once, its checkout closed.
   * Errors: subscription_not_found, subscription_ended; of a managed one also
   * operation_unsupported, gateway_not_configured, renewal_under_way, checkout_unknown, those of the
   * provider.
   */
  cancel(id: string, input?: CancelSubscriptionInput): Promise<ListedSubscription>
  /**
   * Charges nothing until it is resumed; what is paid stays usable unless asked for now. If the
   * provider manages it, it is asked for that once. Errors: subscription_not_found,
   * subscription_ended, subscription_invalid, renewal_under_way; of a managed one also
   * operation_unsupported, gateway_not_configured, those of the provider.
   */
  pause(id: string, input?: PauseSubscriptionInput): Promise<ListedSubscription>
  /**
   * Takes back a planned end or pause, or ends a pause: what is paid is used first, else a new
   * period begins now and is charged. If the provider manages it, it is asked for that once. The
   * same errors.
   */
  resume(id: string): Promise<ListedSubscription>
  /**
   * Other terms from the next period on; another card, metadata or end of the trial at once. If a
   * period is unpaid, a new card is charged for it next. If the provider manages it, only metadata
   * can be changed. Errors: subscription_not_found, subscription_ended, subscription_invalid,
   * payment_method_unusable, operation_unsupported.
   */
  change(id: string, input: ChangeSubscriptionInput<Names['plan']>): Promise<ListedSubscription>
  /**
   * Opens a checkout for what is owed, or in a trial for the first period; it saves the card. The
   * one that is open is returned again. If the provider manages it, there is none but the one that
   * it began with. Errors: subscription_not_found, subscription_ended, subscription_invalid if
   * nothing is owed, renewal_under_way, return_url_not_allowed, checkout_refused, checkout_unknown,
   * operation_unsupported.
   */
  pay(id: string, input?: PaySubscriptionInput): Promise<Payment>
  /**
   * Asks the provider that manages it how it stands, and returns it as it is since; what was charged
   * there meanwhile is taken, too. Callbacks, and a worker from time to time, do the same. Errors:
   * subscription_not_found, subscription_invalid if we charge it ourselves, operation_unsupported,
   * gateway_not_configured, those of the provider.
   */
  sync(id: string): Promise<ListedSubscription>
  /** What its pay page shows: what is owed, and the payment under way. */
  bill(id: string): Promise<SubscriptionBill | undefined>
  /** Those that something is to be done for until then, the earliest first. */
  due(query?: DueQuery): Promise<readonly ListedSubscription[]>
  /**
   * Does what is due, until nothing is: charges, ends, notices. Workers do it all the time. Returns
   * how many steps it took.
   */
  runDue(options?: { readonly signal?: AbortSignal }): Promise<{ readonly steps: number }>
  /** Stops all charges of periods, in every process, at once; ends and notices go on. */
  hold(reason: string): Promise<void>
  /** Charges go on, also those of gateways that rest. */
  release(): Promise<void>
}
