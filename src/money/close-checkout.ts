import type { PollRequest } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { lackingCredential } from '../gateways/require.ts'
import { askAbout, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'

/** Which payment a request to the provider is about. */
export function requestAbout(payment: Payment): PollRequest {
  return { payment, handedAt: payment.handedAt ?? payment.createdAt }
}

/**
 * Ends the checkout at the provider:
 * - `closed`: it can no longer be paid;
 * - `not_offered`: the provider has no means to end it, so we only stop offering it;
 * - `not_closed`: it has ended, or is being paid: the provider knows more than we do.
 */
export async function closeCheckout(
  payment: Payment,
  context: MoneyContext,
): Promise<'closed' | 'not_offered' | 'not_closed'> {
  const found = gatewayOf(payment, context)
  const { closeCheckout: close } = found.gateway
  if (close === undefined || lackingCredential(found) !== undefined) return 'not_offered'
  try {
    const answer = await askAbout(
      { of: found, operation: 'close_checkout', payment, describe: (said: string) => said },
      context,
      (operation) => close(requestAbout(payment), operation),
    )
    return answer === 'closed' ? 'closed' : 'not_closed'
  } catch (error) {
    if (isRefusal(error)) return 'not_closed'
    throw error
  }
}
