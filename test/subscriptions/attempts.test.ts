import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { readCreation } from '../../src/database/subscription-creations.ts'
import { hasAccess } from '../../src/index.ts'
import { days } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import { changeSubscription } from '../../src/subscriptions/change-subscription.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { subscriptionSchema } from '../../src/wire/subscription.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, declined, newSubscription } from './subscribing.ts'

onAnyDatabase((engine) => {
  describe('what is shown of a subscription, and what a renewal asks of the database', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    test('a payer who confirms a renewal comes back to where the subscription said', async () => {
      const paymentMethodId = await at.card()
      const returnUrl = 'https://shop.example/account'
      const made = newSubscription({ paymentMethodId })
      await createSubscription(made, JSON.stringify({ returnUrl }), at.context)
      const confirm = async () => ({ redirectUrl: 'https://bank.example/3ds', outcomes: [] })
      answers(at, confirm)
      at.pass(days(31))
      await at.run()
      const payments = await at.payments(made)
      assert.deepEqual(
        payments.map((payment) => [payment.status, payment.returnUrl]),
        [
          ['paid', null],
          ['pending', returnUrl],
        ],
      )
      const silent = await at.subscribe({ paymentMethodId: await at.card() })
      answers(at, confirm)
      at.pass(days(31))
      await at.run()
      assert.equal((await at.payments(silent.subscription))[1]?.returnUrl, null)
    })

    test('attempts of one moment are shown in the order in which they were made', async () => {
      answers(at, ...Array.from({ length: 6 }, () => declined('stolen')))
      const { subscription } = await at.subscribe({ paymentMethodId: await at.card() })
      const { id } = subscription
      for (let times = 0; times < 5; times += 1) {
        const paymentMethodId = await at.card()
        const change = { paymentMethodId }
        await decideSubscription(
          id,
          (state, moment) => changeSubscription(state, change, moment),
          at.context,
        )
        await at.run()
      }
      const { asked } = at.till
      assert.equal(asked.length, 6)
      // As on the clock of a rehearsal, which stands still.
      await sql`update billing.payments set created_at = ${at.clock.now}`.execute(
        at.billing.database.db,
      )
      const found = await at.billing.core.subscriptions.get(id)
      const shown = found?.payments.map((payment) => payment.id)
      assert.deepEqual(shown, asked)
      const creation = await readCreation(at.billing.database.db, id)
      assert.equal(creation?.firstPayment?.id, asked[0])
    })

    test('whether it goes on by itself is listed: with a card that can be charged, and not once it is gone', async () => {
      const [kept, lost] = [await at.card(), await at.card()]
      const payable = { type: 'account', id: newUuid() }
      await at.subscribe({ paymentMethodId: kept, payable })
      await at.subscribe({ paymentMethodId: lost, payable })
      await at.subscribe({ payable })
      await sql`update billing.payment_methods set status = 'detached'
        where id = ${lost}::uuid`.execute(at.billing.database.db)
      const { data } = await at.billing.core.subscriptions.list({ payable })
      assert.deepEqual(
        new Map(data.map(({ paymentMethodId, renewable }) => [paymentMethodId, renewable])),
        new Map([
          [null, false],
          [lost, false],
          [kept, true],
        ]),
      )
      for (const one of data) {
        assert.equal(hasAccess(one, new Date()), one.access)
        const json = subscriptionSchema.parse(JSON.parse(JSON.stringify(one)))
        assert.equal(json.renewable, one.renewable)
      }
    })

    test('it needs no card if it costs nothing: a late worker takes no access after its trial', async () => {
      const trialEndsAt = new Date(at.clock.now.getTime() + days(1))
      const { subscription } = await at.subscribe({ amount: 0n, trialEndsAt })
      const found = await at.billing.core.subscriptions.get(subscription.id)
      assert.ok(found)
      assert.equal(hasAccess(found, new Date(trialEndsAt.getTime() + 1)), true)
    })

    test('a renewal that is paid at once wakes the workers once, for its event', async () => {
      const { context, pass, subscribe, card, periods } = at
      const { subscription } = await subscribe({ paymentMethodId: await card() })
      await at.run()
      pass(days(32))
      const woken: (string | undefined)[] = []
      const wake = (what?: string) => void woken.push(what)
      const processing = { ...context.processing, wake }
      const { steps } = await runDueSubscriptions({ ...context, processing }, { lanes: 1 })
      assert.equal(steps, 1)
      assert.equal((await periods(subscription)).at(-1)?.state, 'paid')
      assert.deepEqual(woken, ['subscription_events'])
    })
  })
})
