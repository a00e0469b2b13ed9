import type { Gateway } from '../gateways/gateway.ts'
import type { CheckoutRequest } from '../gateways/operations.ts'
import { hours, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'

/** What addresses in requests to providers are built from. */
export interface Addresses {
  /** Where the pages of ours are. */
  readonly origin: string
  callbackUrl(gateway: string): string
}

/** A checkout is open for so long where the caller does not say otherwise. */
export const checkoutLifetime: Duration = hours(24)

/** What a checkout of this payment is asked for with. */
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

/** Where the payer pays, if that is a page of ours. */
export function ownCheckoutUrl(
  gateway: Gateway,
  payment: Payment,
  addresses: Addresses,
): string | null {
  const { checkout } = gateway
  if (checkout?.kind === 'form') return `${addresses.origin}/billing/pay/${payment.id}`
  return checkout?.kind === 'page' ? checkout.url(checkoutRequest(payment, addresses)) : null
}
