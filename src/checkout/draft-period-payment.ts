import { hours, type Duration } from '../kernel/duration.ts'
import type { NewPayment } from '../database/payments.ts'
import { checkoutLifetime } from './checkout-request.ts'
import type { PeriodPayment } from '../subscriptions/change.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { draftPayment, type PaymentCreation } from './draft-payment.ts'

/** How long the payer of a period has on the page; no card is charged meanwhile. */
const pageLifetime: Duration = hours(1)
/** How long the payer has whose checkout begins a subscription at the provider: there is one alone. */
const beginningLifetime: Duration = checkoutLifetime

export interface PeriodPaymentCreation extends PaymentCreation {
  /** Where the payer of a page can go on to afterwards. */
  readonly returnUrl?: string | undefined
}

/**
 * The row of a payment of a period: the subscription says for what and for whom. A card that is used
 * on a page is saved, and charged from then on. Errors: `gateway_unknown`, `gateway_not_configured`,
 * `operation_unsupported`.
 */
export function draftPeriodPayment(
  creation: PeriodPaymentCreation,
  { id, periodId, amount, currency, paymentMethodId, plan }: PeriodPayment,
  subscription: Subscription,
): NewPayment {
  const { gateway, payable, description, customer, metadata, merchantAccount, live } = subscription
  const isPage = paymentMethodId === null
  // The provider saves the card that it is to charge.
  const isLocal = subscription.managedBy === 'local'
  const lifetime = isLocal ? pageLifetime : beginningLifetime
  const { draft } = draftPayment(creation, {
    id,
    gateway,
    amount,
    currency,
    payable,
    description: description ?? plan ?? undefined,
    customer: customer ?? undefined,
    metadata: metadata ?? undefined,
    merchantAccount: merchantAccount ?? undefined,
    live: live ?? undefined,
    returnUrl: isPage ? creation.returnUrl : undefined,
    ...(isPage
      ? { checkout: true, saveCard: isLocal, expiresAt: pageEnd(creation.now(), lifetime) }
      : { paymentMethodId }),
  })
  return { ...draft, periodId }
}

function pageEnd(now: Date, lifetime: Duration): Date {
  return new Date(now.getTime() + lifetime)
}
