import type { Gateway } from '../gateways/gateway.ts'
import type { CheckoutRequest } from '../gateways/operations.ts'
import { hours, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'

/** What the addresses in requests to providers are built from. */
export interface Addresses {
  /** The origin of our own pages. */
  readonly origin: string
  callbackUrl(gateway: string): string
}

/** How long a checkout stays open unless the caller says otherwise. */
export const checkoutLifetime: Duration = hours(24)

/** The request for a checkout of this payment. */
export function checkoutRequest(payment: Payment, addresses: Addresses): CheckoutRequest {
  return {
    payment,
    callbackUrl: addresses.callbackUrl(payment.gateway),
    returnUrl: `${addresses.origin}/billing/return/${payment.id}`,
    expiresAt: payment.expiresAt ?? new Date(payment.createdAt.getTime() + checkoutLifetime),
    saveCard: payment.saveCard,
    origin: addresses.origin,
  }
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
