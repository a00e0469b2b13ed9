import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { releaseCharges } from '../../src/database/charge-holds.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { payPeriod } from '../../src/subscriptions/pay-period.ts'
import { providers } from '../money/providers.ts'
import { startStripe } from '../providers/stripe.ts'
import { startWayforpay } from '../providers/wayforpay.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { onPostgres } from '../support/databases.ts'
import { openChargingProvider, type ChargingProvider } from './charging-provider.ts'

/** Codes of hard declines, as each provider says them. */
const hardDeclines: Readonly<Record<string, string>> = {
  stripe: 'stolen_card',
  liqpay: '9851',
  wayforpay: '1103',
  monobank: '41',
  hutko: '1015',
}

onPostgres((engine) => {
  for (const [name, start] of providers) {
    if (gatewayOf(name).chargeSavedCard === undefined) continue

    describe(`renewals at ${name}`, () => {
      let at: ChargingProvider
      before(async () => {
        at = await openChargingProvider(engine, await start())
      })
      after(() => at.close())
      const renew = async () => {
        const made = await at.subscribe()
        at.pass(days(11))
        return made
      }
      const statuses = async (of: { readonly id: string }) =>
        (await at.payments(of)).map(({ status }) => status)

      test('case 18: a provider that is down takes nobody’s access, and its poll tells', async () => {
        const made = await renew()
        at.provider.down = true
        await at.run()
        at.provider.down = false
        const [unknown] = await at.payments(made)
        assert.deepEqual([unknown?.status, unknown?.checkout], ['pending', 'unknown'])
        assert.equal((await at.state(made)).status, 'active')
        assert.ok(unknown)
        await pollPayment(unknown.id, at.context)
        assert.deepEqual(await statuses(made), ['pending'])
        await releaseCharges(at.billing.database.db)
      })

      test('case 22: a card that the provider declines for good is asked for nothing more', async () => {
        const made = await renew()
        at.provider.declineCharges?.(hardDeclines[name])
        const before = at.asked()
        await at.run()
        at.provider.declineCharges?.(undefined)
        const [, period] = await at.periods(made)
        assert.deepEqual([period?.needs, period?.nextAttemptAt], ['new_card', null])
        assert.equal((await at.state(made)).status, 'past_due')
        at.pass(days(3))
        await at.run()
        assert.equal(at.asked() - before, 1)
      })

      test('a decline that its callback tells before the answer comes counts once', async () => {
        // hutko’s callbacks name no code, and the bank’s are looked up.
        const made = await renew()
        at.provider.declineCharges?.(hardDeclines[name])
        at.provider.misbehave('charge', 'cut')
        await at.run()
        at.provider.declineCharges?.(undefined)
        const [lost] = await at.payments(made)
        assert.equal(lost?.status, 'pending')
        if (name !== 'monobank') {
          await at.billing.deliver(at.provider.paymentCallback(lost.id))
          assert.deepEqual(await statuses(made), ['failed'])
        }
        await pollPayment(lost.id, at.context)
        const [, period] = await at.periods(made)
        assert.equal(period?.declines, 1)
        // The code is known by now, whoever told it: the card is not charged again.
        const before = at.asked()
        at.pass(days(2))
        await at.run()
        assert.equal(at.asked(), before)
        assert.equal((await at.periods(made))[1]?.needs, 'new_card')
      })

      test('money that goes back changes no subscription', async () => {
        const made = await renew()
        await at.run()
        const [paid] = await at.payments(made)
        assert.equal(paid?.status, 'paid')
        const before = await at.state(made)
        at.provider.refundByHand(paid.id, paid.amount)
        await pollPayment(paid.id, at.context)
        assert.equal((await at.billing.details(paid)).refunded, paid.amount)
        assert.deepEqual(await at.state(made), before)
        assert.equal((await at.periods(made))[1]?.state, 'paid')
        at.pass(minutes(30))
        await at.run()
        assert.deepEqual(await statuses(made), ['paid'])
      })
    })
  }

  test('case 26: WayForPay wants 3-D Secure and has no page for it: the customer is told', async () => {
    const at = await openChargingProvider(engine, await startWayforpay({ wants3ds: true }))
    const made = await at.subscribe()
    at.pass(days(11))
    await at.run()
    const [, period] = await at.periods(made)
    assert.deepEqual([(await at.state(made)).status, period?.needs], ['past_due', 'confirmation'])
    const [waiting] = await at.payments(made)
    assert.ok(waiting)
    at.pass(hours(1))
    await at.run()
    assert.equal(at.asked(), 1)
    at.provider.expire(waiting.id)
    await pollPayment(waiting.id, at.context)
    assert.equal((await at.payments(made))[0]?.status, 'canceled')
    await at.run()
    assert.equal(at.asked(), 1)
    at.pass(days(1))
    await at.run()
    assert.equal(at.asked(), 2)
    await at.close()
  })

  test('the card of a paid page that comes before its payment is not charged beside it', async () => {
    const stripe = await startStripe()
    const at = await openChargingProvider(engine, stripe)
    const made = await at.subscribe()
    at.pass(days(11))
    stripe.declineCharges?.('stolen_card')
    await at.run()
    stripe.declineCharges?.(undefined)
    assert.equal((await at.periods(made))[1]?.needs, 'new_card')
    const decided = await decideSubscription(made.id, payPeriod, at.context)
    assert.ok(decided.kind === 'changed' && decided.payment !== null)
    const page = decided.payment
    stripe.pay(page.id)
    const card = stripe.callbacks(page.id).find(({ body }) => body.includes('.attached'))
    assert.ok(card)
    await at.billing.deliver(card)
    const { paymentMethodId } = await at.state(made)
    const [saved] = (await at.billing.details(page)).paymentMethods
    assert.equal(paymentMethodId, saved?.id)
    const before = at.asked()
    await at.run()
    assert.equal(at.asked(), before)
    assert.deepEqual(
      (await at.payments(made)).map(({ status }) => status),
      ['failed', 'paid'],
    )
    await at.close()
  })

  test('case 17: a key that Stripe does not take makes nobody past due', async () => {
    const stripe = await startStripe()
    const at = await openChargingProvider(engine, stripe)
    const made = await at.subscribe()
    at.pass(days(11))
    at.provider.misbehave('charge', 'refuse')
    await at.run()
    const [first] = await at.payments(made)
    const state = await at.state(made)
    assert.deepEqual([first?.status, first?.checkout], ['canceled', 'refused'])
    assert.equal(state.status, 'active')
    assert.notEqual(state.actionError, null)
    await releaseCharges(at.billing.database.db)
    at.pass(hours(1) + minutes(1))
    await at.run()
    assert.equal((await at.payments(made)).at(-1)?.status, 'paid')
    await at.close()
  })
})
