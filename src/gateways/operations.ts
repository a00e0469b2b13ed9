import type { Duration } from '../kernel/duration.ts'
import type { Money } from '../kernel/money.ts'
import type { Secret } from '../kernel/secret.ts'
import type { DeclineKind } from '../payments/decline.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Interval } from '../subscriptions/subscription.ts'
import type { BrowserPage } from './browser-page.ts'
import type { OperationContext } from './interpret-context.ts'
import type { SubscriptionOperations } from './subscription-operations.ts'
import type { Credentials } from './credential-fields.ts'

/** The request for a checkout. The payment's row is committed already. */
export interface CheckoutRequest {
  /** Its id is the reference that we give the provider. */
  readonly payment: Payment
  /** Where the provider sends its callbacks. */
  readonly callbackUrl: string
  /** Where the payer's browser returns to: a page of our own, whatever the payment's status. */
  readonly returnUrl: string
  /** When the checkout should end, as exactly as the provider allows. */
  readonly expiresAt: Date
  /** Save the card, so that it can be charged again. */
  readonly saveCard: boolean
  /** The provider's id of the customer to keep it for, whose card was saved before. */
  readonly customerReference?: string
  /** The origin of our own pages, without a slash at the end. */
  readonly origin: string
  /** It begins a subscription that the provider manages: the payment's money is a period's price. */
  readonly recurring?: Recurrence
}

/** What the provider charges by itself, once the payer has paid on the checkout. */
export interface Recurrence {
  readonly every: Interval
  /** Nothing is charged until then; null: the first period is paid at the checkout. */
  readonly trialEndsAt: Date | null
  /** IANA name of the time zone in whose days the payer was promised a trial. */
  readonly timeZone: string
}

/** A checkout as the provider has it. */
export interface OpenedCheckout {
  /** Where the payer pays. */
  readonly url: string
  /** The provider's ids of the checkout and of the charge, as far as they are known by now. */
  readonly checkoutReference?: string
  readonly providerReference?: string
  /** When it ends at the provider; null if it never does, absent if it ends as requested. */
  readonly expiresAt?: Date | null
  /** Whether it takes live money, if the reply says so. */
  readonly live?: boolean
}

/** What the payer's browser posts to the provider. */
export interface CheckoutForm {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/**
 * How a payer gets to the checkout:
 * - `api`: the provider is asked for one, once;
 * - `form`: the browser posts signed fields, without a request from us;
 * - `page`: it is a page of our own.
 */
export type CheckoutOperation =
  | {
      readonly kind: 'api'
      open(request: CheckoutRequest, context: OperationContext): Promise<OpenedCheckout>
    }
  | {
      readonly kind: 'form'
      form(request: CheckoutRequest, credentials: Credentials): CheckoutForm
    }
  | { readonly kind: 'page'; url(request: CheckoutRequest): string }

/** A payment that the provider is asked about. */
export interface PollRequest {
  readonly payment: Payment
  /** When it was handed to the provider. A search in a list looks for what was made about then. */
  readonly handedAt: Date
}

/**
 * How a payment stands, judged only by what the provider has said of it:
 * - `open`: it is not paid, and the payer can still pay;
 * - `undecided`: the payer has done everything, and the provider has not decided yet;
 * - `paid`: money was taken; the outcomes also say what has been returned since;
 * - `unpaid`: it is not paid and can no longer be paid: it expired, was canceled, or was declined
 *   for good;
 * - `absent`: the provider has never heard of it;
 * - `unclear`: the provider says something else.
 *
 * After `unpaid` and `absent`, and once an `open` checkout has ended, the core cancels the payment.
 * So use them only for words that are known to mean exactly that. Whatever a gateway does not know,
 * or does not expect in combination, is `unclear`: that cancels nothing, and a person looks. Nor
 * does `paid` cancel anything if no outcome has made the payment paid.
 */
export type Standing = 'open' | 'undecided' | 'paid' | 'unpaid' | 'absent' | 'unclear'

/** What the provider says of a payment now. */
export interface PollReply {
  /**
   * About this payment alone, in the same form as from `interpret`; `no_outcome` if nothing is
   * decided.
   */
  readonly outcomes: readonly Outcome[]
  readonly standing: Standing
  /** The checkout is open, and the provider ends none in this state: so it is not asked to. */
  readonly unclosable?: true
  /** A checkout that was found again: the request to open it was never answered. */
  readonly checkout?: Partial<OpenedCheckout>
  /** Whether the outcomes list every refund of it: then a refund that is missing was never made. */
  readonly listsRefunds: boolean
  /** How long an accepted refund may still be missing from them; an hour by default. */
  readonly refundsLag?: Duration
}

/** For providers that say in one request how several payments stand. */
export interface PollTogether {
  /** How many payments one request can be about. */
  readonly most: number
  /**
   * What the provider says of each of these payments, by the payment's id: exactly what `poll` would
   * say of it, by one request for all. Leave out each payment that the answer does not name, or does
   * not say all about: it is polled alone. Changes nothing.
   */
  ask(
    requests: readonly PollRequest[],
    context: OperationContext,
  ): Promise<ReadonlyMap<string, PollReply>>
}

/** A refund to be made. Its row is already committed as pending. */
export interface RefundRequest {
  /** The charge to refund. */
  readonly payment: Payment
  /** The refund's row: its id is our reference, its amount is the money to return. */
  readonly refund: Payment
  /** Whether all of the charge is returned at once. */
  readonly isWhole: boolean
  /** The merchant's reason: free text. */
  readonly reason: string | null
}

/** The provider's answer to a refund; `pending`: accepted, and the result follows later. */
export interface RefundReply {
  readonly status: 'paid' | 'pending' | 'failed'
  /** The provider's id of it, as in its callbacks (`refundReference`). */
  readonly reference?: string
  /** The provider's code of a refusal. */
  readonly code?: string
}

/** A charge of a saved card. The payment's row is committed already. */
export interface ChargeRequest extends CheckoutRequest {
  readonly method: PaymentMethod
  /** Decrypted; null if the provider's id of the card is enough. */
  readonly token: Secret | null
  /** Whether the payer is there to confirm it, or the merchant charges without the payer. */
  readonly initiatedBy: 'customer' | 'merchant'
}

/** A saved card that is removed. */
export interface RemoveCardRequest {
  readonly method: PaymentMethod
  /** Decrypted; null if none is stored. */
  readonly token: Secret | null
}

/** The provider's answer to the charge of a saved card. */
export interface ChargeReply {
  /** In the same form as from `interpret`; `no_outcome` if nothing is decided yet. */
  readonly outcomes: readonly Outcome[]
  readonly checkoutReference?: string
  readonly providerReference?: string
  /** Where the payer confirms it (3-D Secure). */
  readonly redirectUrl?: string
  /**
   * Nothing is decided, and nothing will be without the payer, who has nowhere to confirm it.
   */
  readonly needsPayer?: true
  /** Whether live money was charged, if the reply says so. */
  readonly live?: boolean
}

/**
 * What a gateway can do at its provider. Leave out each operation that the provider does not offer.
 */
export interface Operations {
  /**
   * The credential that requests to the provider need; left out if those for callbacks are enough.
   */
  readonly apiCredential?: string
  readonly checkout?: CheckoutOperation
  /** Why the gateway cannot take this money, as one phrase; undefined if it can. */
  moneyFault?(money: Money): string | undefined
  /**
   * How many payments reconciliation polls in a minute: well below what the provider allows,
   * because checkouts and refunds need their share. 600 by default.
   */
  readonly pollsPerMinute?: number
  /**
   * `poll` finds a renewal by the ids that its report named, so unpaid renewals are polled, too.
   */
  readonly pollsRenewals?: true
  /** Polls a payment; changes nothing. */
  poll?(request: PollRequest, context: OperationContext): Promise<PollReply>
  /**
   * Reconciliation asks so first, about payments with a `checkoutReference` that are not paid as far
   * as we know. It counts as one poll in `pollsPerMinute`.
   */
  readonly pollTogether?: PollTogether
  /** Moves money: exactly one request that does, whatever happens to it. */
  refund?(request: RefundRequest, context: OperationContext): Promise<RefundReply>
  /** `refund` can also return part of a payment; without this, only the whole. */
  readonly partialRefund?: true
  /**
   * Moves money, under the same rule as `refund`. A decline is an answer with a `failed` outcome,
   * or `provider_refused` with one of the codes in `declines`. Any other refusal is taken for a
   * fault of ours: the card and its owner have nothing to do with it.
   */
  chargeSavedCard?(request: ChargeRequest, context: OperationContext): Promise<ChargeReply>
  /**
   * What a decline of a saved card means, by the provider's code: of a `declineCode`, and of a
   * refusal that came instead of a charge. A declined payment with any other code is `soft`.
   */
  readonly declines?: ReadonlyMap<string, DeclineKind>
  /** How many saved cards may be charged in a minute by a schedule of ours. 120 by default. */
  readonly chargesPerMinute?: number
  /** Removes a saved card; one that is gone already is no error. */
  removeSavedCard?(request: RemoveCardRequest, context: OperationContext): Promise<void>
  /**
   * Ends an open checkout. `closed`: it is not paid, and can no longer be paid or is no longer
   * offered. `not_open`: it had ended, been paid, or never existed; then the core polls.
   */
  closeCheckout?(request: PollRequest, context: OperationContext): Promise<'closed' | 'not_open'>
  /** For providers that manage subscriptions: they charge each period by themselves. */
  readonly subscriptions?: SubscriptionOperations
  /** For providers at which the callback URL must be registered beforehand. */
  readonly registration?: Registration
  /** For providers that keep their callbacks for a while and list them. */
  readonly backfill?: Backfill
  /** Pages that the payer's browser opens on our side, at `/billing/{name}/{path}`. */
  readonly browserPages?: readonly BrowserPage[]
}

/** A webhook endpoint (notification destination) as the provider has it. */
export interface RegisteredEndpoint {
  /** The provider's id of it. */
  readonly id: string
  readonly url: string
  /** The types of the events that are sent there. */
  readonly events: readonly string[]
  readonly enabled: boolean
  /** The API version of its events; null if the provider does not say. */
  readonly apiVersion: string | null
  /** Signs its callbacks; present only if the provider returns it. */
  readonly secret?: Secret
}

/** Sets up where the provider sends callbacks. None of it moves money. */
export interface Registration {
  /** Exactly the types of events that `interpret` uses. */
  readonly events: readonly string[]
  /** The API version of the events, if the provider has versions. */
  readonly apiVersion?: string
  /** The credential in which to store the endpoint's secret. */
  readonly secretField: string
  /** What the provider cannot do, and what to do instead: one sentence each. */
  readonly notes: readonly string[]
  /** All endpoints of the account, including those of other systems. */
  list(context: OperationContext): Promise<readonly RegisteredEndpoint[]>
  create(url: string, context: OperationContext): Promise<RegisteredEndpoint>
  /** Gives it this URL and exactly `events`, and enables it; what cannot be changed stays. */
  update(id: string, url: string, context: OperationContext): Promise<RegisteredEndpoint>
  remove(id: string, context: OperationContext): Promise<void>
}

/** A past event, as its callback carried it. */
export interface PastEvent {
  /** The provider's id of the event. */
  readonly id: string
  readonly at: Date
  /** The callback's body. */
  readonly body: string
}

/** Lists what callbacks said, or should have said. */
export interface Backfill {
  /** How long the provider keeps them. */
  readonly keptFor: Duration
  /** The id of the event in the text of a callback's body; undefined if there is none. */
  eventIdOf(body: string): string | undefined
  /** Pages of the events since then that `interpret` uses, each event once. */
  list(since: Date, context: OperationContext): AsyncIterable<readonly PastEvent[]>
}
