import assert from 'node:assert/strict'
import { findSubscription } from '../../src/database/subscriptions.ts'
import { listPeriods } from '../../src/database/subscription-periods.ts'
import type { Registry } from '../../src/gateways/registry.ts'
import { days, type Duration } from '../../src/kernel/duration.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { NewSubscription } from '../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import type { TestEngine } from '../support/databases.ts'
import { newSubscription, paymentsOf, reviewReasons } from './subscribing.ts'

/** A billing that charges saved cards at a provider over HTTP, and a time of its own. */
export interface ChargingProvider {
  readonly billing: MoneyBilling
  readonly provider: ProviderStandIn
  readonly context: MoneyContext
  readonly clock: { now: Date }
  pass(length: Duration): void
  /** A monthly subscription, paid until ten days from now, with a card that the provider knows. */
  subscribe(fields?: Partial<NewSubscription>): Promise<Subscription>
  run(): Promise<number>
  state(of: { readonly id: string }): Promise<Subscription>
  periods(of: { readonly id: string }): Promise<readonly SubscriptionPeriod[]>
  payments(of: { readonly id: string }): Promise<readonly Payment[]>
  reviews(): Promise<readonly string[]>
  /** Charges of cards that the provider was asked for. */
  asked(): number
  close(): Promise<void>
}

export async function openChargingProvider(
  engine: TestEngine,
  provider: ProviderStandIn,
): Promise<ChargingProvider> {
  const billing = await openMoney(engine, provider)
  const { db } = billing.database
  // The workers live by the time of the database: nothing is due there.
  const clock = { now: new Date(Math.ceil(Date.now() / 1000) * 1000 + days(1)) }
  const entitled = await billing.runtime.entitledContext()
  const context: MoneyContext = {
    ...entitled,
    processing: {
      ...entitled.processing,
      gateways: withoutPace(entitled.processing.gateways),
      subscriptionTime: async () => clock.now,
    },
  }
  const saveCard = async (): Promise<string> => {
    const payment = await billing.createPaid({ saveCard: true })
    const [card] = (await billing.details(payment)).paymentMethods
    assert.ok(card)
    return card.id
  }
  return {
    billing,
    provider,
    context,
    clock,
    pass(length) {
      clock.now = new Date(clock.now.getTime() + length)
    },
    subscribe: async (fields = {}) => {
      const input = newSubscription({
        gateway: provider.gateway.name,
        currency: 'UAH',
        amount: 15_075n,
        paymentMethodId: await saveCard(),
        paidUntil: new Date(clock.now.getTime() + days(10)),
        ...fields,
      })
      return (await createSubscription(input, '{}', context)).subscription
    },
    run: async () => (await runDueSubscriptions(context, { lanes: 1 })).steps,
    state: async ({ id }) => {
      const found = await findSubscription(db, id)
      assert.ok(found)
      return found
    },
    periods: async ({ id }) =>
      (await listPeriods(db, { subscriptionId: id, limit: 100 })).data.toReversed(),
    payments: (of) => paymentsOf(db, of),
    reviews: () => reviewReasons(db),
    asked: () => provider.asked.filter(({ asking }) => asking === 'charge').length,
    close: async () => {
      await billing.close()
      await provider.close()
    },
  }
}

/** The provider is a stand-in, which may be charged as often as a test likes. */
function withoutPace(gateways: Registry): Registry {
  return {
    ...gateways,
    find: (name) => {
      const found = gateways.find(name)
      return found && { ...found, gateway: { ...found.gateway, chargesPerMinute: 600_000 } }
    },
  }
}
