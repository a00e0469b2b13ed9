import type { Payment } from '../payments/payment.ts'
import { untouched } from './begin-subscription.ts'
import type { Moment } from './change.ts'
import type { Subscription } from './subscription.ts'

/**
 * A subscription that its provider has begun with a payment of ours. What it is sold for is not known
 * until the provider is asked, which is due at once: until then it gives nothing, and costs what the
 * payment does.
 */
export function beginManaged(
  payment: Payment,
  { id, reference }: { readonly id: string; readonly reference: string },
  { now, policy }: Moment,
): Subscription {
  return {
    ...untouched(now),
    id,
    managedBy: 'provider',
    gateway: payment.gateway,
    merchantAccount: payment.merchantAccount,
    live: payment.live,
    providerReference: reference,
    status: 'incomplete',
    plan: null,
    payable: payment.payable,
    description: payment.description,
    customer: payment.customer,
    metadata: payment.metadata,
    amount: payment.amount,
    currency: payment.currency,
    every: { unit: 'month', count: 1 },
    // The provider says when periods begin and end.
    timeZone: 'UTC',
    paymentMethodId: null,
    graceAccess: policy.graceAccess ?? true,
    trialEndsAt: null,
    paidUntil: null,
    nextActionAt: now,
  }
}
