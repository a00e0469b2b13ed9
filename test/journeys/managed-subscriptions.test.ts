import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { shuffled } from '../../src/testing/index.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import { longAgo, managedLives, type ManagedLives } from '../providers/managed-lives.ts'
import { idle } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { settled } from '../support/settled.ts'
import { until } from '../support/until.ts'

onPostgres((engine) => {
  for (const [name, start] of managedLives) {
    describe(`a subscription that ${name} manages, from its checkout to its end`, () => {
      let at: ManagedLives
      let billing: MoneyBilling
      before(async () => {
        at = await start()
        billing = await openMoney(engine, at.provider)
      })
      after(async () => {
        await billing.close()
        await at.provider.close()
      })
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
      const complete = async (billing: MoneyBilling, at: ManagedLives, paymentId: string) => {
        at.provider.pay(paymentId)
        // In whatever order: here the last comes first.
        for (const callback of at.callbacks(paymentId).toReversed()) await billing.receive(callback)
        await idle(billing.core)
      }

      test('paid, it is active; canceled, its provider ends it', async () => {
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
      })

      test('renewed, declined, recovered, paused, resumed and given up, it ends as its provider has it', async (t) => {
        const at = await start()
        const billing = await openMoney(engine, at.provider)
        t.after(async () => {
          await billing.close()
          await at.provider.close()
        })
        const { subscription, payment } = await create(billing, { every: 'day' })
        const { id } = subscription
        assert.ok(payment)
        const began = Date.now() - longAgo
        const pass = (length: number) => {
          at.clock.now = new Date(began + length)
        }
        const sent: SignedCallback[] = []
        /** In any order, and some of them twice, those of before too. */
        const tell = async (seed: number) => {
          sent.push(...at.callbacks(payment.id))
          const twice = sent.filter((_, index) => index % 3 === 0)
          for (const callback of shuffled([...sent, ...twice], seed))
            await billing.receive(callback)
          await settled(billing)
        }
        pass(0)
        at.provider.pay(payment.id)
        pass(days(1))
        at.renew(payment.id)
        pass(days(2))
        at.failRenewal(payment.id)
        pass(days(2) + hours(3))
        at.recover(payment.id)
        await tell(1)
        assert.deepEqual(await lifeOf(billing, id), {
          status: 'active',
          periods: ['1 paid', '2 paid', '3 paid'],
          told: { SubscriptionCreated: 1, SubscriptionRenewed: 3 },
          charges: { paid: 3 },
          documents: { paid: 3 },
        })
        pass(days(2) + hours(6))
        assert.equal((await billing.core.subscriptions.pause(id, { at: 'now' })).status, 'paused')
        pass(days(3) + hours(12))
        assert.equal((await billing.core.subscriptions.resume(id)).status, 'active')
        pass(days(4) + hours(12))
        at.failRenewal(payment.id)
        assert.equal((await billing.core.subscriptions.sync(id)).status, 'past_due')
        pass(days(4) + hours(15))
        at.failRenewal(payment.id)
        at.giveUp(payment.id)
        await tell(2)
        const { charges, documents, ...ended } = await lifeOf(billing, id)
        assert.deepEqual(ended, {
          status: 'canceled',
          periods: ['1 paid', '2 paid', '3 paid', '4 paid', '5 void'],
          told: {
            SubscriptionCreated: 1,
            SubscriptionRenewed: 4,
            SubscriptionPaused: 1,
            SubscriptionResumed: 1,
            SubscriptionPaymentFailed: 1,
            SubscriptionCancelled: 1,
          },
        })
        assert.deepEqual([charges['paid'], documents['paid']], [4, 4])
      })

      test('with a trial its checkout takes nothing, and nothing is granted that has a price', async () => {
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
      })

      test('canceled before its payer has paid, its checkout is closed there', async () => {
        const { subscription, payment } = await create(billing)
        const ended = await billing.core.subscriptions.cancel(subscription.id)
        assert.deepEqual([ended.status, ended.endReason], ['canceled', 'requested'])
        assert.equal((await billing.core.payments.get(payment?.id ?? ''))?.status, 'canceled')
      })
    })
  }
})

/** What became of the only subscription; nothing of it waits for a person, or was told twice. */
async function lifeOf({ core, events }: MoneyBilling, id: string) {
  const found = await core.subscriptions.get(id)
  assert.ok(found)
  assert.deepEqual((await core.reviews.list({ state: 'open' })).data, [])
  const { data: charges } = await core.payments.list({})
  for (const charge of charges.filter(({ status }) => status === 'paid')) {
    const types = (await events(charge)).filter((type) => type === 'PaymentSucceeded')
    assert.deepEqual(types, ['PaymentSucceeded'])
  }
  const { data: documents } = await core.invoices.list({ payable: found.payable })
  assert.ok(documents.every(({ subscriptionId }) => subscriptionId === id))
  // Those of documents have no place among them.
  const told = found.events.map(({ type }) => type).filter((type) => !type.startsWith('Invoice'))
  return {
    status: found.status,
    periods: found.periods
      .toSorted((one, other) => one.number - other.number)
      .map(({ number, state }) => `${number} ${state}`),
    told: countsOf(told),
    charges: countsOf(charges.map(({ status }) => status)),
    documents: countsOf(documents.map(({ status }) => status)),
  }
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
