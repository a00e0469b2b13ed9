import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { days, hours } from '../../src/kernel/duration.ts'
import { pollReply } from '../money/scripted.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined } from './subscribing.ts'

forEachDatabase((engine) => {
  describe('a renewal that waits for its payer, or cuts access', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    test('case 26: a charge that its payer must confirm is told at once, once; confirmed, it is paid', async () => {
      const made = await at.renewable()
      answers(at, async () => ({ outcomes: [], redirectUrl: 'https://bank.example/3ds' }))
      at.script.poll = async () => pollReply([], { standing: 'open' })
      at.pass(days(31))
      await at.run()
      assert.equal((await at.state(made)).status, 'past_due')
      assert.equal((await at.lastPeriod(made)).needs, 'confirmation')
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
      at.pass(hours(2))
      await at.run()
      const waiting = (await at.payments(made)).at(-1)
      assert.ok(waiting)
      assert.deepEqual(
        [waiting.status, waiting.checkoutUrl],
        ['pending', 'https://bank.example/3ds'],
      )
      await at.report(at.paidOutcome(waiting))
      assert.equal((await at.state(made)).status, 'active')
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed', 'SubscriptionRenewed'])
      assert.equal(at.till.asked.length, 1)
    })

    test('case 26: not confirmed, it is told no second time, and the card is charged as planned', async () => {
      const made = await at.renewable()
      answers(at, async () => ({ outcomes: [], redirectUrl: 'https://bank.example/3ds' }))
      at.pass(days(31))
      await at.run()
      const waiting = (await at.payments(made)).at(-1)
      assert.ok(waiting)
      await at.report({
        type: 'payment',
        payment: { id: waiting.id },
        status: 'failed',
        declineCode: 'confirm_it',
      })
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
      await at.retry(made)
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed', 'SubscriptionRenewed'])
      assert.equal(at.till.asked.length, 2)
    })

    test('case 26: one with nowhere to confirm it is told as well, and nothing is charged beside it', async () => {
      const made = await at.renewable()
      answers(at, async () => ({ outcomes: [], needsPayer: true }))
      at.script.poll = async () => pollReply([], { standing: 'undecided' })
      at.pass(days(31))
      await at.run()
      assert.equal((await at.state(made)).status, 'past_due')
      assert.equal((await at.lastPeriod(made)).needs, 'confirmation')
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed'])
      at.pass(hours(2))
      await at.run()
      assert.equal(at.till.asked.length, 1)
      // The provider lets it expire.
      const waiting = (await at.payments(made)).at(-1)
      assert.ok(waiting)
      await at.report({ type: 'payment', payment: { id: waiting.id }, status: 'canceled' })
      await at.run()
      assert.equal(at.till.asked.length, 1)
      await at.retry(made)
      assert.equal(at.till.asked.length, 2)
      assert.equal((await at.state(made)).status, 'active')
      assert.deepEqual(await at.told(made), ['SubscriptionPaymentFailed', 'SubscriptionRenewed'])
    })

    test('case 26: a bank that wants its payer declines: it is told, and tried again as planned', async () => {
      const made = await at.renewable()
      answers(at, declined('confirm_it'))
      at.pass(days(31))
      await at.run()
      assert.equal((await at.lastPeriod(made)).needs, 'confirmation')
      await at.retry(made)
      assert.equal((await at.state(made)).status, 'active')
    })

    test('case 28: without grace access is cut once, and comes back with the money', async () => {
      const made = await at.renewable({ graceAccess: false })
      answers(at, declined(), declined())
      at.pass(days(31))
      await at.run()
      const { suspendedAt } = await at.state(made)
      assert.ok(suspendedAt)
      await at.retry(made)
      assert.deepEqual((await at.state(made)).suspendedAt, suspendedAt)
      await at.retry(made)
      assert.equal((await at.state(made)).suspendedAt, null)
      assert.deepEqual(await at.told(made), [
        'SubscriptionPaymentFailed',
        'SubscriptionAccessSuspended',
        'SubscriptionPaymentFailed',
        'SubscriptionRenewed',
      ])
    })

    test('case 28: without grace a charge that waits for its payer cuts access once, also if declined', async () => {
      const made = await at.renewable({ graceAccess: false })
      answers(
        at,
        async () => ({ outcomes: [], redirectUrl: 'https://bank.example/3ds' }),
        declined(),
      )
      at.pass(days(31))
      await at.run()
      const waiting = (await at.payments(made)).at(-1)
      assert.ok(waiting)
      await at.report({ type: 'payment', payment: { id: waiting.id }, status: 'failed' })
      await at.retry(made)
      const types = await at.told(made)
      assert.equal(types.filter((type) => type === 'SubscriptionAccessSuspended').length, 1)
    })
  })
})
