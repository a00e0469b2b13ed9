import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isQuittanceError, QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { PaymentMethod } from '../../src/payments/payment-method.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { until } from '../support/until.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { statements } from '../rooms/processing/room.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'
import { providers } from './providers.ts'
import { onlyOpens, openScripted, type Script } from './scripted.ts'

const withCode = (code: string) => (error: unknown) =>
  isQuittanceError(error) && error.code === code

onPostgres((engine) => {
  for (const [name, start] of providers) {
    const { chargeSavedCard, removeSavedCard } = gatewayOf(name)
    if (chargeSavedCard === undefined) continue

    describe(name, () => {
      let billing: MoneyBilling
      before(async () => {
        billing = await openMoney(engine, await start())
      })
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })
      const asked = (asking: 'remove' | 'charge') =>
        billing.provider.asked.filter((one) => one.asking === asking).length
      const saveCard = async () => {
        const payment = await billing.createPaid({ saveCard: true })
        const [card] = (await billing.details(payment)).paymentMethods
        assert.ok(card)
        return { payment, card }
      }
      const eventsOf = async ({ id }: PaymentMethod) => {
        const { data } = await billing.core.events.list({ limit: 100 })
        const own = data.filter(({ paymentMethodId }) => paymentMethodId === id)
        return own.map(({ type }) => type).toReversed()
      }
      const refused = async (work: Promise<unknown>, code: string) =>
        assert.rejects(work, withCode(code))

      test('a removed card has no token, fires once, and is never charged or brought back', async () => {
        const { payment, card } = await saveCard()
        const { paymentMethods } = billing.core
        const before = { remove: asked('remove'), charge: asked('charge') }
        const removed = await paymentMethods.remove(card.id)
        assert.deepEqual([removed.status, removed.hasToken], ['detached', false])
        assert.deepEqual(await paymentMethods.remove(card.id), removed)
        const once = removeSavedCard === undefined ? 0 : 1
        assert.equal(asked('remove') - before.remove, once)

        await billing.deliver(billing.provider.paymentCallback(payment.id))
        assert.deepEqual((await paymentMethods.get(card.id))?.status, 'detached')
        assert.deepEqual(await eventsOf(card), ['PaymentMethodAttached', 'PaymentMethodDetached'])
        await refused(billing.create({ paymentMethodId: card.id }), 'payment_method_unusable')
        assert.equal(asked('charge'), before.charge)
      })

      if (removeSavedCard === undefined) return

      test('a provider that says no, or nothing, leaves the card as it is; it is removed later', async () => {
        for (const [mishap, code] of [
          ['refuse', 'provider_refused'],
          ['down', 'provider_unreachable'],
          ['cut', 'provider_unreachable'],
          ['never', 'provider_unreachable'],
        ] as const) {
          const { card } = await saveCard()
          billing.provider.misbehave('remove', mishap)
          await refused(billing.core.paymentMethods.remove(card.id), code)
          assert.deepEqual(await billing.core.paymentMethods.get(card.id), card, mishap)
          // Cut and never: it is gone there already.
          const { status } = await billing.core.paymentMethods.remove(card.id)
          assert.equal(status, 'detached', mishap)
          assert.deepEqual(await eventsOf(card), ['PaymentMethodAttached', 'PaymentMethodDetached'])
        }
      })
    })
  }
})

onAnyDatabase((engine) => {
  let billing: StatedBilling
  let script: Script
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
  })
  after(() => billing.close())
  beforeEach(() => onlyOpens(script))

  const saveCard = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const reference = `pm_${newUuid()}`
    const card = { type: 'payment_method', status: 'attached', reference, ...fields } as const
    await billing.sayBy('scripted', card)
    const { data } = await billing.core.paymentMethods.list({ gateway: 'scripted', limit: 1 })
    const [saved] = data
    assert.equal(saved?.providerReference, reference)
    return saved
  }
  const idsOf = (cards: readonly PaymentMethod[]) => cards.map(({ id }) => id)

  test('saved cards are listed by customer, by payment, by gateway and by status, page by page', async () => {
    const { paymentMethods } = billing.core
    const payable = { type: 'account', id: `7:${newUuid()}` }
    const saveFor = async (customer: Readonly<Record<string, unknown>>) => {
      const payment = await billing.create({ gateway: 'scripted', customer, payable })
      return { payment, card: await saveCard({ payment: { id: payment.id } }) }
    }
    const first = await saveFor({ id: '7', email: 'payer@example.test' })
    const other = await saveFor({ id: '77', email: 'other@example.test' })
    const second = await saveFor({ id: 7 })
    const nobodys = await saveCard({ customerReference: 'cus_1' })
    const own = [second.card.id, first.card.id]
    const listed = async (query: Parameters<typeof paymentMethods.list>[0]) =>
      idsOf((await paymentMethods.list(query)).data)
    assert.deepEqual(await listed({ customer: '7' }), own)
    assert.deepEqual(await listed({ customer: 'Payer@example.test' }), [first.card.id])
    assert.deepEqual(await listed({ customerReference: 'cus_1' }), [nobodys.id])
    assert.deepEqual(await listed({ paymentId: first.payment.id }), [first.card.id])
    assert.deepEqual(await listed({ paymentId: 'none' }), [])
    assert.deepEqual(await listed({ customer: '7', gateway: 'stripe' }), [])
    assert.deepEqual(await listed({ payable }), [second.card.id, other.card.id, first.card.id])
    assert.deepEqual(await listed({ payable, customer: '7' }), own)
    assert.deepEqual(await listed({ payable: { ...payable, id: '7' }, customer: '7' }), [])

    const page = await paymentMethods.list({ customer: '7', limit: 1 })
    assert.deepEqual(idsOf(page.data), [second.card.id])
    assert.ok(page.nextCursor)
    const next = await paymentMethods.list({ customer: '7', limit: 1, cursor: page.nextCursor })
    assert.deepEqual([idsOf(next.data), next.nextCursor], [[first.card.id], null])

    await paymentMethods.remove(second.card.id)
    assert.deepEqual(await listed({ customer: '7', status: 'attached' }), [first.card.id])
    assert.deepEqual(await listed({ customer: '7', status: 'detached' }), [second.card.id])
    assert.deepEqual(await listed({ customer: '7' }), own)
  })

  test('a card that there is not is neither found nor removed', async () => {
    const { paymentMethods } = billing.core
    for (const id of [newUuid(), 'pm_1']) {
      assert.equal(await paymentMethods.get(id), undefined)
      await assert.rejects(paymentMethods.remove(id), withCode('payment_method_not_found'))
    }
  })

  test('while a card is being charged its removal waits, and nothing is charged afterwards', async (t) => {
    const card = await saveCard()
    const charging = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    let charges = 0
    script.chargeSavedCard = async ({ payment }) => {
      charges += 1
      charging.resolve()
      await answered.promise
      const { id, amount, currency } = payment
      return { outcomes: [{ type: 'payment', payment: { id }, status: 'paid', amount, currency }] }
    }
    const charge = () => billing.create({ gateway: 'scripted', paymentMethodId: card.id })
    const paying = charge()
    await charging.promise
    let isOver = false
    const sent = statements(t)
    const looks = () => sent.filter((text) => /payment_method_id = [^]*'unknown'/.test(text)).length
    const removing = billing.core.paymentMethods.remove(card.id).finally(() => (isOver = true))
    const statusNow = async () => (await billing.core.paymentMethods.get(card.id))?.status
    await until(async () => (await statusNow()) === 'detached', { what: 'it is removed here' })
    await assert.rejects(charge(), withCode('payment_method_unusable'))
    await until(() => looks() > 2, { what: 'it waits, and looks again' })
    assert.equal(isOver, false)
    answered.resolve()
    assert.equal((await paying).status, 'paid')
    assert.equal((await removing).status, 'detached')
    assert.equal(charges, 1)
  })

  test('a charge without an answer holds up no removal', async () => {
    const card = await saveCard()
    script.chargeSavedCard = async () => {
      throw new QuittanceError('provider_unreachable', 'cut')
    }
    const charge = billing.create({ gateway: 'scripted', paymentMethodId: card.id })
    await assert.rejects(charge, withCode('checkout_unknown'))
    assert.equal((await billing.core.paymentMethods.remove(card.id)).status, 'detached')
  })

  test('five removals at once are one event', async () => {
    const card = await saveCard()
    const removals = Array.from({ length: 5 }, () => billing.core.paymentMethods.remove(card.id))
    for (const { status } of await Promise.all(removals)) assert.equal(status, 'detached')
    const { data } = await billing.core.events.list({ type: 'PaymentMethodDetached', limit: 100 })
    assert.equal(data.filter(({ paymentMethodId }) => paymentMethodId === card.id).length, 1)
  })
})
