import { requireOperation } from '../gateways/require.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import type { PaymentInput } from './payment-input.ts'

/**
 * How the payer of a new payment can pay:
 * - `none`: not through us;
 * - `here`: on a page of our own, without any request;
 * - `api`: the provider must be asked for a checkout;
 * - `charge`: the provider must be asked to charge a saved card.
 */
export type CheckoutPlan = 'none' | 'here' | 'api' | 'charge'

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
  return requireOperation(found, 'checkout').kind === 'api' ? 'api' : 'here'
}
