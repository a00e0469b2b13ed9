import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { days } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import { startPaddle } from '../providers/paddle.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { startStripe } from '../providers/stripe.ts'
import { idle } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'

interface At {
  readonly provider: ProviderStandIn
  /** The callbacks about a payment and what it has begun, all that there are by now. */
  callbacks(paymentId: string): readonly SignedCallback[]
}

const providers: readonly (readonly [string, () => Promise<At>])[] = [
  [
    'stripe',
    async () => {
      const provider = await startStripe()
      return { provider, callbacks: provider.callbacks }
    },
  ],
  [
    'paddle',
    async () => {
      const provider = await startPaddle()
      return { provider, callbacks: () => provider.takeCallbacks() }
    },
  ],
]

onPostgres((engine) => {
  for (const [name, start] of providers) {
    describe(`a subscription that ${name} manages, from its checkout to its end`, () => {
      const create = (billing: MoneyBilling, input: Partial<CreateSubscriptionInput> = {}) =>
        billing.core.subscriptions.create({
          gateway: name,
          managedBy: 'provider',
          payable: { type: 'account', id: newUuid() },
          amount: 4_999,
          currency: 'USD',
          every: 'month',
          customer: { email: 'payer@example.test' },
          ...input,
        })
      const shown = async (billing: MoneyBilling, id: string) => {
        const found = await billing.core.subscriptions.get(id)
        assert.ok(found)
        return found
      }
      /** The payer completes the checkout, and the provider tells. */
      const complete = async (billing: MoneyBilling, at: At, paymentId: string) => {
        at.provider.pay(paymentId)
        // In whatever order: here the last comes first.
        for (const callback of at.callbacks(paymentId).toReversed()) await billing.receive(callback)
        await idle(billing.core)
      }

      test('paid, it is active; canceled, its provider ends it', async () => {
        const at = await start()
        const billing = await openMoney(engine, at.provider)
        const { subscription, payment } = await create(billing)
        const { id } = subscription
        assert.ok(payment?.checkoutUrl)
        await complete(billing, at, payment.id)
        const status = async () => (await shown(billing, id)).status
        await until(async () => (await status()) === 'active', { what: 'it is active' })
        const active = await billing.core.subscriptions.sync(id)
        assert.deepEqual([active.access, active.providerReference === null], [true, false])
        const { periods } = await shown(billing, id)
        assert.deepEqual(
          periods.map(({ number, state, paidPaymentId }) => [number, state, paidPaymentId]),
          [[1, 'paid', payment.id]],
        )
        const planned = await billing.core.subscriptions.cancel(id)
        assert.equal(planned.status, 'active')
        assert.ok(planned.cancelAt !== null)
        assert.equal((await billing.core.subscriptions.resume(id)).cancelAt, null)
        const ended = await billing.core.subscriptions.cancel(id, { at: 'now' })
        assert.deepEqual([ended.status, ended.access], ['canceled', false])
        for (const callback of at.callbacks(payment.id)) await billing.receive(callback)
        await idle(billing.core)
        await until(
          async () =>
            (await shown(billing, id)).events.some(({ type }) => type === 'SubscriptionCancelled'),
          { what: 'its end is told' },
        )
        const isOfDocument = (type: string) => type.startsWith('Invoice')
        const types = (await shown(billing, id)).events.map(({ type }) => type)
        assert.deepEqual(
          types.filter((type) => !isOfDocument(type)),
          ['SubscriptionCreated', 'SubscriptionRenewed', 'SubscriptionCancelled'],
        )
        // Its provider's document, which has no place among them.
        assert.deepEqual(types.filter(isOfDocument), ['InvoiceIssued', 'InvoicePaid'])
        assert.deepEqual((await billing.core.reviews.list({ state: 'open' })).data, [])
        await billing.close()
        await at.provider.close()
      })

      test('with a trial its checkout takes nothing, and nothing is granted that has a price', async () => {
        const at = await start()
        const billing = await openMoney(engine, at.provider)
        const trialEndsAt = new Date(Math.ceil(Date.now() / days(1)) * days(1) + days(14))
        const { subscription, payment } = await create(billing, { trialEndsAt })
        const { id } = subscription
        assert.equal(payment?.amount, 0n)
        await complete(billing, at, payment.id)
        const status = async () => (await shown(billing, id)).status
        await until(async () => (await status()) === 'trialing', { what: 'its trial has begun' })
        const found = await shown(billing, id)
        assert.deepEqual(
          found.periods.map(({ number, kind, state, amount }) => [number, kind, state, amount]),
          [[0, 'trial', 'free', 0n]],
        )
        assert.deepEqual([found.access, found.paidUntil], [true, null])
        assert.equal((await billing.core.payments.get(payment.id))?.status, 'paid')
        const ended = await billing.core.subscriptions.cancel(id, { at: 'now' })
        assert.deepEqual([ended.status, ended.access], ['canceled', false])
        assert.deepEqual((await billing.core.reviews.list({ state: 'open' })).data, [])
        await billing.close()
        await at.provider.close()
      })

      test('canceled before its payer has paid, its checkout is closed there', async () => {
        const at = await start()
        const billing = await openMoney(engine, at.provider)
        const { subscription, payment } = await create(billing)
        const ended = await billing.core.subscriptions.cancel(subscription.id)
        assert.deepEqual([ended.status, ended.endReason], ['canceled', 'requested'])
        assert.equal((await billing.core.payments.get(payment?.id ?? ''))?.status, 'canceled')
        await billing.close()
        await at.provider.close()
      })
    })
  }
})
