import { hours, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { CheckoutRequest } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentInput } from './payment-input.ts'

/**
 * How the payer of a new payment gets to pay:
 * - `none`: not by us;
 * - `here`: by a page of ours, without asking anybody;
 * - `api`: the provider has to be asked for a checkout;
 * - `charge`: the provider has to be asked to charge a saved card.
 */
export type CheckoutPlan = 'none' | 'here' | 'api' | 'charge'

/** What addresses in requests to providers are built from. */
export interface Addresses {
  /** Where the pages of ours are. */
  readonly origin: string
  callbackUrl(gateway: string): string
}

/** A checkout is open for so long where the caller does not say otherwise. */
export const checkoutLifetime: Duration = hours(24)

/** Errors: `payment_invalid`, `gateway_not_configured`, `operation_unsupported`. */
export function planCheckout(found: RegisteredGateway, input: PaymentInput): CheckoutPlan {
  const { gateway } = found
  if (input.paymentMethodId !== undefined) {
    requireOperation(found, 'chargeSavedCard')
    return 'charge'
  }
  const elsewhere = input.checkoutReference !== undefined || input.providerReference !== undefined
  if (input.checkout === false || (elsewhere && input.checkout !== true)) return 'none'
  if (gateway.checkout === undefined && input.checkout !== true) return 'none'
  requireOperation(found, 'checkout')
  return gateway.checkout?.kind === 'api' ? 'api' : 'here'
}

export type Operation = 'checkout' | 'poll' | 'refund' | 'chargeSavedCard'

const words: Record<Operation, string> = {
  checkout: 'open checkouts',
  poll: 'tell the status of a payment',
  refund: 'refund payments',
  chargeSavedCard: 'charge saved cards',
}

/** Errors: `operation_unsupported`, `gateway_not_configured`. */
export function requireOperation(
  { gateway, credentials }: RegisteredGateway,
  operation: Operation,
): void {
  const { name, title } = gateway
  if (gateway[operation] === undefined) {
    throw new QuittanceError('operation_unsupported', `${title} cannot ${words[operation]}`)
  }
  const elsewhere =
    operation === 'checkout' ? ', or ask for no checkout if it begins elsewhere' : ''
  if (!credentials.configured) {
    const fix = `Set the credentials of the gateway (quittance gateways names them)${elsewhere}.`
    throw new QuittanceError('gateway_not_configured', `gateway ${name} is not configured`, { fix })
  }
  const lacking = lackingCredential({ gateway, credentials })
  if (lacking === undefined) return
  throw new QuittanceError(
    'gateway_not_configured',
    `gateway ${name} cannot ${words[operation]} without ${lacking}`,
    { fix: `Set ${lacking}${elsewhere}.` },
  )
}

/** The variable of the credential that requests to the provider need, if it is not set. */
export function lackingCredential({ gateway, credentials }: RegisteredGateway): string | undefined {
  const field = gateway.apiCredential
  if (field === undefined || (credentials.secrets[field]?.length ?? 0) > 0) return undefined
  return gateway.credentials[field]?.env[0] ?? field
}

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
