import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onPostgres } from '../support/databases.ts'
import type { Asking } from '../providers/provider-stand-in.ts'
import { concurrently, openMoney, postForm, type MoneyBilling } from './money-billing.ts'
import { mishapsOf, providers } from './providers.ts'

/** Providers that list what they have, with its URL: a checkout whose answer was lost is found. */
const listing: ReadonlySet<string> = new Set(['stripe', 'paddle'])

const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))

function gatewayOf(name: string): Gateway {
  const found = builtin.find((gateway) => gateway.name === name)
  assert.ok(found)
  return found
}

/** What became of a creation: the payment, or the code of the error. */
async function outcomeOf(creating: Promise<Payment>): Promise<Payment | string> {
  try {
    return await creating
  } catch (error) {
    return codeOf(error)
  }
}

onPostgres((engine) => {
  test('a checkout for which there is no connection is refused: nothing was sent', async () => {
    const start = new Map(providers).get('stripe')
    assert.ok(start)
    const provider = await start()
    const billing = await openMoney(engine, provider)
    await provider.close()
    try {
      assert.equal(await outcomeOf(billing.create({})), 'checkout_refused')
    } finally {
      await billing.close()
    }
  })

  for (const [name, start] of providers) {
    describe(name, { concurrency: 1 }, () => {
      let billing: MoneyBilling
      before(async () => {
        billing = await openMoney(engine, await start())
      })
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })
      const asked = (asking: Asking) =>
        billing.provider.asked.filter((one) => one.asking === asking).length
      const { checkout } = gatewayOf(name)

      test('a payment is made with a checkout that its payer can open', async () => {
        const payment = await billing.createOpened({ description: 'Two tickets' })
        assert.equal(payment.checkout, 'open')
        assert.match(payment.checkoutUrl ?? '', /^https?:\/\//)
        assert.equal(billing.provider.checkouts(payment.id), 1)
        assert.ok(payment.expiresAt !== null)
      })

      test('one that is asked for ten times at once with one id is opened once', async () => {
        const id = randomUUID()
        const results = await Promise.all(
          Array.from({ length: 10 }, () => outcomeOf(billing.create({ id }))),
        )
        for (const result of results) {
          // Those that come while the provider is being asked cannot tell yet.
          if (typeof result === 'string') assert.equal(result, 'checkout_unknown')
        }
        const again = await billing.create({ id })
        await postForm(billing, again)
        assert.equal(billing.provider.checkouts(id), 1)
        assert.equal(again.checkout, 'open')
      })

      if (checkout?.kind === 'api') {
        test('a refusal is told with the code of the provider, and stands on the payment', async () => {
          const id = randomUUID()
          billing.provider.misbehave('checkout', 'refuse')
          assert.equal(await outcomeOf(billing.create({ id })), 'checkout_refused')
          const { status, checkout: state, operationError } = await billing.details({ id })
          assert.deepEqual([status, state], ['pending', 'refused'])
          assert.match(operationError ?? '', /\w/)
          const before = asked('checkout')
          assert.equal(await outcomeOf(billing.create({ id })), 'checkout_refused')
          assert.equal(asked('checkout'), before, 'a repeated request asks nobody')
          assert.equal((await billing.core.payments.cancel(id)).status, 'canceled')
        })

        for (const [mishap, done] of mishapsOf(name)) {
          test(`a checkout that is answered ${mishap} is asked for once, and known in the end`, async () => {
            const id = randomUUID()
            const before = asked('checkout')
            billing.provider.misbehave('checkout', mishap)
            assert.equal(await outcomeOf(billing.create({ id })), 'checkout_unknown')
            assert.equal((await billing.details({ id })).checkout, 'unknown')
            assert.equal(await outcomeOf(billing.create({ id })), 'checkout_unknown')
            await billing.pass({ id }, 0)
            await billing.core.reconcile()
            assert.equal(asked('checkout') - before, 1)
            assert.equal(billing.provider.checkouts(id), done === 'done' ? 1 : 0)
            const found = await billing.details({ id })
            assert.equal(found.status, 'pending')
            const isFound = done === 'done' && listing.has(name)
            assert.equal(found.checkout, isFound ? 'open' : 'unknown')
            assert.equal(found.checkoutUrl !== null, isFound)
            await billing.pass({ id }, 26)
            if (billing.provider.checkouts(id) > 0) billing.provider.expire(id)
            await billing.core.reconcile()
            const ended = await billing.details({ id })
            assert.deepEqual([ended.status, ended.checkout], ['canceled', 'closed'])
            assert.deepEqual(await billing.events({ id }), ['PaymentCanceled'])
          })
        }
      }

      test('a checkout that is canceled is canceled once, and cannot be paid at the provider', async () => {
        const payment = await billing.createOpened()
        const canceled = await billing.core.payments.cancel(payment.id)
        assert.deepEqual([canceled.status, canceled.checkout], ['canceled', 'closed'])
        assert.equal((await billing.core.payments.cancel(payment.id)).status, 'canceled')
        assert.deepEqual(await billing.events(payment), ['PaymentCanceled'])
      })

      test('one that has just been paid is not canceled, but found paid', async () => {
        const payment = await billing.createOpened()
        billing.provider.pay(payment.id)
        const canceling = billing.core.payments.cancel(payment.id)
        await assert.rejects(canceling, (error) => codeOf(error) === 'payment_not_cancelable')
        assert.equal((await billing.details(payment)).status, 'paid')
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      })

      if (gatewayOf(name).chargeSavedCard !== undefined) savedCards(name, () => billing, asked)
    })
  }
}, concurrently)

function savedCards(
  name: string,
  billingOf: () => MoneyBilling,
  asked: (asking: Asking) => number,
): void {
  const saveCard = async () => {
    const billing = billingOf()
    const first = await billing.createPaid({ saveCard: true })
    const [method] = (await billing.details(first)).paymentMethods
    assert.ok(method, `${name} saves a card`)
    return method.id
  }

  test('a saved card is charged: one request, one event', async () => {
    const billing = billingOf()
    const paymentMethodId = await saveCard()
    const before = asked('charge')
    const payment = await billing.create({ paymentMethodId, initiatedBy: 'merchant' })
    assert.equal(asked('charge') - before, 1)
    assert.equal(billing.provider.charges(payment.id), 1)
    await billing.core.payments.poll(payment.id)
    await billing.deliver(billing.provider.paymentCallback(payment.id))
    assert.equal((await billing.details(payment)).status, 'paid')
    assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
  })

  for (const [mishap, done] of mishapsOf(name)) {
    test(`a charge of a saved card that is answered ${mishap} is made once at most`, async () => {
      const billing = billingOf()
      const paymentMethodId = await saveCard()
      const id = randomUUID()
      const before = asked('charge')
      billing.provider.misbehave('charge', mishap)
      const charge = () =>
        outcomeOf(billing.create({ id, paymentMethodId, initiatedBy: 'merchant' }))
      assert.equal(await charge(), 'checkout_unknown')
      await charge()
      await billing.pass({ id }, 0)
      await billing.core.reconcile()
      const known = done === 'done' ? 'paid' : 'pending'
      assert.equal((await billing.details({ id })).status, known)
      await billing.pass({ id }, 26)
      await billing.core.reconcile()
      assert.equal(asked('charge') - before, 1, 'one request reached the provider')
      assert.equal(billing.provider.charges(id), done === 'done' ? 1 : 0)
      const { status } = await billing.details({ id })
      assert.equal(status, done === 'done' ? 'paid' : 'canceled')
      const told = done === 'done' ? 'PaymentSucceeded' : 'PaymentCanceled'
      assert.deepEqual(await billing.events({ id }), [told])
    })
  }
}
