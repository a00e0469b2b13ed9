import type { TestContext } from 'node:test'
import { days } from '../../../src/kernel/duration.ts'
import type { OperationContext } from '../../../src/gateways/interpret-context.ts'
import type { CheckoutRequest } from '../../../src/gateways/operations.ts'
import { openCheckout } from '../../../src/gateways/paddle/checkout.ts'
import { paddleSubscriptions } from '../../../src/gateways/paddle/subscriptions.ts'
import type { SubscriptionReply } from '../../../src/gateways/subscription-operations.ts'
import type { HeldSubscription } from '../../providers/paddle/entities.ts'
import { subscriptionOf } from '../../providers/paddle/subscriptions.ts'
import { paymentId, type Fields } from './events.ts'
import { checkoutOf, contextOf, startProviderFor } from './operations.ts'

export const start = new Date('2026-01-31T10:00:00.000Z')
type Renewed = NonNullable<CheckoutRequest['recurring']>

export const monthly: Renewed = {
  every: { unit: 'month', count: 1 },
  trialEndsAt: null,
  timeZone: 'UTC',
}

/** A subscription at Paddle that a payment of ours began, on a clock that the test owns. */
export async function begun(t: TestContext, recurring: Renewed = monthly) {
  const { provider, official } = await startProviderFor(t)
  let now = start
  provider.account.now = () => now
  const context = (): OperationContext => contextOf(provider.config, { now })
  const opened = await openCheckout(checkoutOf({ recurring }), context())
  provider.pay(paymentId)
  const held: HeldSubscription = subscriptionOf(provider.account, paymentId)
  const request = { reference: held.id, merchantAccount: null, live: false }
  return {
    provider,
    official,
    context,
    held,
    request,
    wished: { ...request, wishId: '0198f0aa-0000-7000-8000-00000000aaaa' },
    checkoutReference: opened.checkoutReference ?? '',
    advance: (duration: number) => {
      now = new Date(now.getTime() + duration)
    },
    read: async (): Promise<SubscriptionReply> => {
      const reply = await paddleSubscriptions.read(request, context())
      if (reply === undefined) throw new Error('Paddle has no such subscription')
      return reply
    },
  }
}

export const inDays = (count: number) => new Date(start.getTime() + days(count))

/** A subscription as Paddle's API has it, with what is read of it. */
export const managed = (fields: Fields = {}): Fields => ({
  id: 'sub_01m2z7q4w9e6r8t5y3u1i0o7pb',
  status: 'active',
  currency_code: 'USD',
  custom_data: { payment_id: paymentId },
  billing_cycle: { interval: 'month', frequency: 1 },
  current_billing_period: {
    starts_at: '2026-01-31T10:00:00.123456Z',
    ends_at: '2026-02-28T10:00:00.123456Z',
  },
  canceled_at: null,
  scheduled_change: null,
  discount: null,
  items: [item()],
  ...fields,
})

export const item = (fields: Fields = {}, price: Fields = {}): Fields => ({
  status: 'active',
  quantity: 1,
  recurring: true,
  trial_dates: null,
  price: {
    tax_mode: 'internal',
    unit_price: { amount: '4999', currency_code: 'USD' },
    ...price,
  },
  ...fields,
})
