import { bareCharge, unknownAtFirst, type NewPayment } from '../database/payments.ts'
import type { RegisteredGateway, Registry } from '../gateways/registry.ts'
import { requireGateway } from '../gateways/require.ts'
import { minutes } from '../kernel/duration.ts'
import { fieldError } from '../kernel/errors.ts'
import type { CheckoutState } from '../payments/payment.ts'
import { paymentOf } from '../wire/payment.ts'
import type { PaymentInput } from './payment-input.ts'
import { checkoutLifetime, ownCheckoutUrl, type Addresses } from './checkout-request.ts'
import { planCheckout, type CheckoutPlan } from './plan-checkout.ts'

export interface PaymentCreation {
  readonly gateways: Registry
  /** Made for this creation: the payment's id if the caller gives none. */
  readonly token: string
  now(): Date
  readonly addresses: Addresses
  /** Whether a payer may be sent on to this URL. */
  isAllowedReturn(url: string): boolean
  /** The names of metadata that payments are found by. */
  readonly searchedMetadata: readonly string[]
}

/** A payment to be written, and what has to follow. */
export interface DraftedPayment {
  readonly draft: NewPayment
  readonly plan: CheckoutPlan
  readonly found: RegisteredGateway
}

/** When a payment is polled for the first time: most callbacks have come by then. */
const firstPollAfter = minutes(5)

/** How a checkout begins in each case, before it is known what the provider must be asked for. */
const firstState = {
  none: 'none',
  here: 'open',
  api: 'unknown',
  charge: 'unknown',
} as const satisfies Record<CheckoutPlan, CheckoutState>

/**
 * Makes a row from the input. A payment for a provider is marked as handed over before anything is
 * sent, so that a crash loses no payment. Errors: those of `createPayment` that need no database.
 */
export function draftPayment(creation: PaymentCreation, input: PaymentInput): DraftedPayment {
  const found = requireGateway(creation.gateways, input.gateway)
  const { gateway } = found
  const now = creation.now()
  const plain = plainOf(creation, input, found)
  requireAllowedReturn(plain.returnUrl, creation)
  const plan = planCheckout(found, input)
  const isHanded =
    plan !== 'none' || plain.checkoutReference !== null || plain.providerReference !== null
  const lifetimeEnd = plan === 'none' ? null : new Date(now.getTime() + checkoutLifetime)
  const draft: NewPayment = {
    ...plain,
    checkout: firstState[plan],
    expiresAt: plain.expiresAt ?? lifetimeEnd,
    searchedMetadata: creation.searchedMetadata,
    isHanded,
    firstPollAfter: isHanded && gateway.poll !== undefined ? firstPollAfter : null,
  }
  const dates = { handedAt: now, createdAt: now, updatedAt: now }
  const asRow = paymentOf({ ...draft, ...dates, ...unknownAtFirst })
  const checkoutUrl = plan === 'here' ? ownCheckoutUrl(gateway, asRow, creation.addresses) : null
  return { draft: { ...draft, checkoutUrl }, plan, found }
}

function plainOf(
  creation: PaymentCreation,
  input: PaymentInput,
  { gateway, credentials }: RegisteredGateway,
) {
  const account = gateway.account(credentials)
  return {
    ...bareCharge,
    id: input.id ?? creation.token,
    gateway: gateway.name,
    amount: input.amount,
    currency: input.currency,
    payable: input.payable,
    description: input.description ?? null,
    returnUrl: input.returnUrl ?? null,
    merchantAccount: input.merchantAccount ?? account.merchantAccount,
    checkoutReference: input.checkoutReference ?? null,
    providerReference: input.providerReference ?? null,
    live: input.live ?? account.live,
    customer: input.customer ?? null,
    metadata: input.metadata ?? null,
    saveCard: input.saveCard ?? false,
    expiresAt: input.expiresAt ?? null,
    paymentMethodId: input.paymentMethodId ?? null,
  } as const
}

/** Error: `return_url_not_allowed`. */
export function requireAllowedReturn(
  url: string | null,
  creation: Pick<PaymentCreation, 'isAllowedReturn'>,
): void {
  if (url === null || creation.isAllowedReturn(url)) return
  const fault = `must not lead payers to ${new URL(url).origin}`
  throw fieldError('return_url_not_allowed', 'returnUrl', fault)
}
