import type { Duration } from '../kernel/duration.ts'
import type { Money } from '../kernel/money.ts'
import type { Secret } from '../kernel/secret.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { BrowserPage } from './browser-page.ts'
import type { InterpretContext } from './interpret-context.ts'
import type { Credentials } from './credential-fields.ts'

/**
 * What an operation at a provider may use; no transaction is open meanwhile. The signal ends it
 * when its time is up: whatever it asked for may have happened all the same.
 *
 * Errors of all operations: `provider_refused` where the provider says that nothing was done,
 * `provider_unreachable` and `provider_reply_invalid` where nobody knows.
 */
export interface OperationContext extends InterpretContext {
  readonly now: Date
}

/** What a checkout is opened for. The payment's row is committed already. */
export interface CheckoutRequest {
  /** Its id is the reference that the provider gets from us. */
  readonly payment: Payment
  /** Where the provider reports what became of it. */
  readonly callbackUrl: string
  /** Where the payer's browser comes back to: a page of ours, whatever came of the payment. */
  readonly returnUrl: string
  /** When the checkout should end, as near as the provider can come to it. */
  readonly expiresAt: Date
  /** The card is to be saved, so that it can be charged again. */
  readonly saveCard: boolean
  /** Where the pages of ours are, without a slash at the end. */
  readonly origin: string
}

/** A checkout as the provider has it. */
export interface OpenedCheckout {
  /** Where the payer pays. */
  readonly url: string
  /** The provider's id of the checkout, and of the charge, as far as they are known by now. */
  readonly checkoutReference?: string
  readonly providerReference?: string
  /** When it ends at the provider; null where it never does, absent where it ends as asked. */
  readonly expiresAt?: Date | null
  /** Whether it takes live money, where the reply says so. */
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
 * - `form`: the browser posts signed fields, which cost no request;
 * - `page`: it is a page of ours.
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
  /** When it was handed to the provider: what is looked for in a list was made about then. */
  readonly handedAt: Date
}

/**
 * How a payment stands, by what the provider has said of it, and by nothing else:
 * - `open`: nobody has paid, and the payer still can;
 * - `undecided`: the payer has done his part, and the provider has not decided;
 * - `paid`: money was taken; the outcomes also say what has gone back since;
 * - `unpaid`: nobody has paid, and nobody can any more: it expired, was canceled, or declined for
 *   good;
 * - `absent`: the provider has never heard of it;
 * - `unclear`: the provider says something else.
 *
 * After `unpaid` and `absent`, and once an `open` checkout has ended, the core cancels the payment.
 * So they are for words that are known to mean just that: whatever a gateway does not know, or does
 * not expect together, is `unclear`. That cancels nothing, and a person looks; neither does `paid`
 * where no outcome has made the payment paid.
 */
export type Standing = 'open' | 'undecided' | 'paid' | 'unpaid' | 'absent' | 'unclear'

/** What the provider says of a payment now. */
export interface PollReply {
  /**
   * About this payment alone, in the shapes of `interpret`; `no_outcome` where nothing is decided.
   */
  readonly outcomes: readonly Outcome[]
  readonly standing: Standing
  /** A checkout whose opening was never answered: found again. */
  readonly checkout?: Partial<OpenedCheckout>
  /** The outcomes tell every refund of it: one that is not among them has not been made. */
  readonly listsRefunds: boolean
  /** How long a refund that was taken on may be missing from them all the same; default an hour. */
  readonly refundsLag?: Duration
}

/** A refund to be made. Its row is committed as pending already. */
export interface RefundRequest {
  /** What was charged. */
  readonly payment: Payment
  /** The refund's row: its id is our reference of it, its amount what goes back. */
  readonly refund: Payment
  /** All of the charge goes back at once. */
  readonly isWhole: boolean
  /** What the merchant gives as the reason: free text. */
  readonly reason: string | null
}

/** What the provider answered to a refund; `pending`: it has taken it on, and tells later. */
export interface RefundReply {
  readonly status: 'paid' | 'pending' | 'failed'
  /** The provider's id of it, as its callbacks name it too (`refundReference`). */
  readonly reference?: string
  /** The provider's code of a refusal. */
  readonly code?: string
}

/** A charge of a saved card. The payment's row is committed already. */
export interface ChargeRequest extends CheckoutRequest {
  readonly method: PaymentMethod
  /** Decrypted; null where the provider's id of the card is enough. */
  readonly token: Secret | null
  /** Whether the payer is there to confirm it, or the merchant charges by himself. */
  readonly initiatedBy: 'customer' | 'merchant'
}

/** What the provider answered to the charge of a saved card. */
export interface ChargeReply {
  /** In the shapes of `interpret`; `no_outcome` where nothing is decided yet. */
  readonly outcomes: readonly Outcome[]
  readonly checkoutReference?: string
  readonly providerReference?: string
  /** Where the payer confirms it (3-D Secure). */
  readonly redirectUrl?: string
  /** Whether live money was charged, where the reply says so. */
  readonly live?: boolean
}

/**
 * What a gateway can do at its provider: each operation is there only where the provider offers it.
 */
export interface Operations {
  /**
   * The credential without which the provider cannot be asked; none where those for callbacks do.
   */
  readonly apiCredential?: string
  readonly checkout?: CheckoutOperation
  /** Why the gateway cannot take this money, as one phrase; undefined where it can. */
  moneyFault?(money: Money): string | undefined
  /**
   * How many payments reconciliation asks after in a minute: well below what the provider allows,
   * for checkouts and refunds need their share. 600 where it is left out.
   */
  readonly pollsPerMinute?: number
  /**
   * `poll` finds a renewal by the ids that its report named: one that is not paid is asked after,
   * too.
   */
  readonly pollsRenewals?: true
  /** Asks what became of a payment; changes nothing. */
  poll?(request: PollRequest, context: OperationContext): Promise<PollReply>
  /** Moves money: exactly one request that does, whatever happens to it. */
  refund?(request: RefundRequest, context: OperationContext): Promise<RefundReply>
  /** `refund` gives back a part of a payment, too; without it the whole or nothing. */
  readonly partialRefund?: true
  /** Moves money, likewise. */
  chargeSavedCard?(request: ChargeRequest, context: OperationContext): Promise<ChargeReply>
  /**
   * Ends an open checkout. `closed`: nobody has paid it, and nobody can any more, or is offered to.
   * `not_open`: it had ended, been paid, or never been there; then the core polls.
   */
  closeCheckout?(request: PollRequest, context: OperationContext): Promise<'closed' | 'not_open'>
  /** Where the callback URL must be registered beforehand. */
  readonly registration?: Registration
  /** The provider keeps its callbacks for a while and lists them. */
  readonly backfill?: Backfill
  /** Pages that the payer's browser opens on our side, at `/billing/{name}/{path}`. */
  readonly browserPages?: readonly BrowserPage[]
}

/** A webhook endpoint (notification destination) as the provider has it. */
export interface RegisteredEndpoint {
  /** The provider's id of it. */
  readonly id: string
  readonly url: string
  /** Types of the events that are sent there. */
  readonly events: readonly string[]
  readonly enabled: boolean
  /** What its events are worded in; null where the provider does not say. */
  readonly apiVersion: string | null
  /** Signs its callbacks; there only where the provider tells it. */
  readonly secret?: Secret
}

/** Tells the provider where callbacks go. None of it moves money. */
export interface Registration {
  /** Exactly the types of events that `interpret` does something with. */
  readonly events: readonly string[]
  /** What the events are to be worded in, where the provider has versions. */
  readonly apiVersion?: string
  /** The credential that the endpoint's secret belongs into. */
  readonly secretField: string
  /** What the provider cannot do, and what to do instead: a sentence each. */
  readonly notes: readonly string[]
  /** All endpoints of the account, also those of others. */
  list(context: OperationContext): Promise<readonly RegisteredEndpoint[]>
  create(url: string, context: OperationContext): Promise<RegisteredEndpoint>
  /** Gives it this URL, exactly `events`, and switches it on; what cannot be changed stays. */
  update(id: string, url: string, context: OperationContext): Promise<RegisteredEndpoint>
  remove(id: string, context: OperationContext): Promise<void>
}

/** An event of the past, as its callback carried it. */
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
  /** The id of the event in the text of a callback's body; undefined where there is none. */
  eventIdOf(body: string): string | undefined
  /** Pages of events since then that `interpret` does something with, each event once. */
  list(since: Date, context: OperationContext): AsyncIterable<readonly PastEvent[]>
}
