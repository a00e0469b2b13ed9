// What readers do with their subscriptions.
import type { PaymentMethod, SubscriptionDetails } from 'quittance'
import { billing } from './billing.ts'
import { cardCheck, magazine, type Plan } from './magazine.ts'

const accountUrl = `${billing.origin}/account`

const payableOf = (readerId: string) => ({ type: 'reader', id: readerId })

/** Whether the reader may read: by the clock, so also right where an event is late. */
export function mayRead(readerId: string): Promise<boolean> {
  return billing.subscriptions.access(payableOf(readerId))
}

/** The last subscription of a reader, with what is owed of it. */
export async function subscriptionOf(readerId: string): Promise<SubscriptionDetails | undefined> {
  const query = { payable: payableOf(readerId), limit: 1 }
  const { data } = await billing.subscriptions.list(query)
  return data[0] && billing.subscriptions.get(data[0].id)
}

export async function cardOf(
  subscription: SubscriptionDetails,
): Promise<PaymentMethod | undefined> {
  const { paymentMethodId } = subscription
  return paymentMethodId === null ? undefined : billing.paymentMethods.get(paymentMethodId)
}

/** Makes a subscription; where the payer goes. */
export async function subscribe(
  readerId: string,
  { id, plan }: { readonly id: string; readonly plan: Plan },
): Promise<string> {
  const before = await subscriptionOf(readerId)
  if (before !== undefined && before.endedAt === null) return accountUrl
  const { payment } = await billing.subscriptions.create({
    // Pressed twice, it is one subscription.
    id,
    gateway: 'fake',
    plan,
    payable: payableOf(readerId),
    description: magazine.name,
    // Also from the page on which a declined renewal is paid.
    returnUrl: accountUrl,
    // One trial for everybody.
    ...(before !== undefined && { trialDays: 0 }),
  })
  // In a trial nothing is to be paid yet.
  return payment?.checkoutUrl ?? accountUrl
}

/** A card is saved with a payment; this one is paid back. Where the payer goes. */
export async function saveCard(subscriptionId: string): Promise<string> {
  const payment = await billing.payments.create({
    ...cardCheck,
    gateway: 'fake',
    description: `${magazine.name}: a new card. You get this back at once.`,
    payable: { type: 'card', id: subscriptionId },
    saveCard: true,
    returnUrl: accountUrl,
  })
  return payment.checkoutUrl ?? `/billing/pay/${payment.id}`
}
