import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { days } from '../../src/kernel/duration.ts'
import { readCreation } from '../../src/database/subscription-creations.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import { decideSubscription } from '../../src/money/decide-subscription.ts'
import { changeSubscription } from '../../src/subscriptions/change-subscription.ts'
import { forEachDatabase } from '../support/databases.ts'
import { answers, declined, newSubscription, openSubscribing } from './subscribing.ts'

forEachDatabase((engine) => {
  test('a payer who confirms a renewal comes back to where the subscription said', async () => {
    const at = await openSubscribing(engine)
    try {
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
    } finally {
      await at.billing.close()
    }
  })

  test('attempts of one moment are shown in the order in which they were made', async () => {
    const at = await openSubscribing(engine)
    try {
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
    } finally {
      await at.billing.close()
    }
  })
})
