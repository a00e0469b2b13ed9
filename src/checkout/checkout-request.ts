import type { Gateway } from '../gateways/gateway.ts'
import type { CheckoutRequest, Recurrence } from '../gateways/operations.ts'
import { hours, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import { paymentOf } from '../wire/payment.ts'

/** What the addresses in requests to providers are built from. */
export interface Addresses {
  /** The origin of our own pages. */
  readonly origin: string
  callbackUrl(gateway: string): string
}

/** How long a checkout stays open unless the caller says otherwise. */
export const checkoutLifetime: Duration = hours(24)

/** A subscription that the provider will manage, as its checkout begins it. */
export interface RecurringTerms extends Recurrence {
  /** What a period costs; the checkout itself may take nothing, before a trial. */
  readonly price: bigint
}

/** What a checkout needs besides its payment. */
export interface CheckoutTerms {
  /** Of the subscription that it begins at the provider. */
  readonly recurring?: RecurringTerms | undefined
  readonly customerReference?: string | undefined
}

/** The request for a checkout of this payment. */
export function checkoutRequest(
  payment: Payment,
  addresses: Addresses,
  { recurring, customerReference }: CheckoutTerms = {},
): CheckoutRequest {
  return {
    ...begun(payment, recurring),
    ...(customerReference !== undefined && { customerReference }),
    callbackUrl: addresses.callbackUrl(payment.gateway),
    returnUrl: `${addresses.origin}/billing/return/${payment.id}`,
    expiresAt: payment.expiresAt ?? new Date(payment.createdAt.getTime() + checkoutLifetime),
    saveCard: payment.saveCard,
    origin: addresses.origin,
  }
}

function begun(
  payment: Payment,
  terms?: RecurringTerms,
): Pick<CheckoutRequest, 'payment' | 'recurring'> {
  if (terms === undefined) return { payment }
  const { price, ...recurring } = terms
  return { payment: paymentOf({ ...payment, amount: price }), recurring }
}

/** The URL on which the payer pays, if it is a page of our own. */
export function ownCheckoutUrl(
  gateway: Gateway,
  payment: Payment,
  addresses: Addresses,
): string | null {
  const { checkout } = gateway
  if (checkout?.kind === 'form') return `${addresses.origin}/billing/pay/${payment.id}`
  return checkout?.kind === 'page' ? checkout.url(checkoutRequest(payment, addresses)) : null
}
