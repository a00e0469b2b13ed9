import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { ListenersOption } from '../../src/billing/listeners-option.ts'
import { findCustomer } from '../../src/database/payment-methods.ts'
import { days } from '../../src/kernel/duration.ts'
import { startStripe, type StripeStandIn } from '../providers/stripe.ts'
import { onPostgres } from '../support/databases.ts'
import { shownIn, shownListeners } from '../support/shown-listeners.ts'
import { until } from '../support/until.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'

/** In each order: what Stripe tells of a checkout that has saved a card. */
const orders = [
  ['payment_intent.succeeded', 'payment_method.attached', 'checkout.session.completed'],
  ['payment_intent.succeeded', 'checkout.session.completed', 'payment_method.attached'],
  ['payment_method.attached', 'payment_intent.succeeded', 'checkout.session.completed'],
  ['payment_method.attached', 'checkout.session.completed', 'payment_intent.succeeded'],
  ['checkout.session.completed', 'payment_intent.succeeded', 'payment_method.attached'],
  ['checkout.session.completed', 'payment_method.attached', 'payment_intent.succeeded'],
  // The other two are lost, and a poll tells.
  ['payment_method.attached'],
  ['payment_intent.succeeded'],
  [],
] as const

onPostgres((engine) => {
  describe('a new card at Stripe is charged from then on, whatever comes first', () => {
    let stripe: StripeStandIn
    let billing: MoneyBilling
    /** The one that runs. */
    let recipe = ''
    before(async () => {
      stripe = await startStripe()
      const recipes = shownIn.map((path) =>
        shownListeners(
          path,
          'useNewCard',
          (run) => (event, context) => (recipe === path ? run(event, context) : undefined),
        ),
      )
      const listeners = Object.assign({}, ...(await Promise.all(recipes))) as ListenersOption
      billing = await openMoney(engine, stripe, { listeners })
    })
    after(async () => {
      await billing.close()
      await stripe.close()
    })
    const cardOf = async (paymentId: string) => {
      const { data: cards } = await billing.core.paymentMethods.list({ paymentId })
      assert.equal(cards.length, 1)
      return cards[0]?.id ?? ''
    }
    const subscribe = async () => {
      const first = await billing.createPaid({ saveCard: true })
      const { subscription } = await billing.core.subscriptions.create({
        gateway: 'stripe',
        payable: { type: 'account', id: '7' },
        amount: 900,
        currency: 'USD',
        every: 'month',
        paymentMethodId: await cardOf(first.id),
        paidUntil: new Date(Date.now() + days(20)),
      })
      return subscription.id
    }

    test('cards of one customer.id are kept for one customer', async () => {
      const customerFor = async (input: Partial<CreatePaymentInput>) => {
        const { id } = await billing.createPaid({ saveCard: true, ...input })
        return (await billing.core.paymentMethods.get(await cardOf(id)))?.customerReference
      }
      const olena = { id: '7', email: 'olena@shop.example' }
      const first = await customerFor({ customer: olena })
      assert.equal(await customerFor({ customer: olena }), first)
      assert.equal(await customerFor({ customer: { id: 7 } }), first, 'without an address')
      for (const [what, input] of [
        ['another customer', { customer: { id: '8', email: olena.email } }],
        ['an id like the address of the first', { customer: { id: olena.email } }],
        ['no id', { customer: { email: olena.email } }],
      ] as const) {
        assert.notEqual(await customerFor(input), first, what)
      }
      const { db } = billing.database
      const payment = await billing.create({ customer: olena })
      assert.equal(await findCustomer(db, payment), first)
      assert.equal(await findCustomer(db, { ...payment, live: null }), first, 'not known yet')
      for (const other of [{ merchantAccount: 'acct_2' }, { live: true }, { gateway: 'other' }]) {
        assert.equal(await findCustomer(db, { ...payment, ...other }), undefined)
      }
    })

    for (const path of shownIn) {
      test(`by ${path}`, async () => {
        recipe = path
        const id = await subscribe()
        for (const order of orders) {
          const check = { amount: 100, currency: 'USD', payable: { type: 'card', id } }
          const payment = await billing.create({ ...check, saveCard: true })
          stripe.pay(payment.id)
          const told = stripe.callbacks(payment.id)
          for (const type of order) {
            const callback = told.find(({ body }) => body.includes(`"type": "${type}"`))
            assert.ok(callback, type)
            await billing.deliver(callback)
          }
          if (order.length < 2) await billing.core.payments.poll(payment.id)
          const card = await cardOf(payment.id)
          const { data } = await billing.core.events.list({ type: 'PaymentMethodAttached' })
          const events = data.filter(({ paymentMethodId }) => paymentMethodId === card)
          const said = events.map(({ paymentId }) => paymentId)
          assert.deepEqual(said, [payment.id], order.join(', '))
          const isDone = async () => {
            const { paymentMethodId } = (await billing.core.subscriptions.get(id)) ?? {}
            return paymentMethodId === card && (await billing.details(payment)).refunded === 100n
          }
          await until(isDone, { what: `after ${order.join(', ')}: charged, and given back` })
        }
      })
    }
  })
})
