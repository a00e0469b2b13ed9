import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { hasAccess } from '../../src/index.ts'
import { days } from '../../src/kernel/duration.ts'
import { subscriptionSchema } from '../../src/wire/subscription.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openSubscribing } from './subscribing.ts'

forEachDatabase((engine) => {
  describe('whether a subscription goes on by itself', () => {
    test('is listed: with a card that can be charged, and not once it is gone', async () => {
      const at = await openSubscribing(engine)
      try {
        const [kept, lost] = [await at.card(), await at.card()]
        await at.subscribe({ paymentMethodId: kept })
        await at.subscribe({ paymentMethodId: lost })
        await at.subscribe()
        await sql`update billing.payment_methods set status = 'detached'
          where id = ${lost}::uuid`.execute(at.billing.database.db)
        const { data } = await at.billing.core.subscriptions.list()
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
      } finally {
        await at.billing.close()
      }
    })

    test('needs no card if it costs nothing: a late worker takes no access after its trial', async () => {
      const at = await openSubscribing(engine)
      try {
        const trialEndsAt = new Date(at.clock.now.getTime() + days(1))
        const { subscription } = await at.subscribe({ amount: 0n, trialEndsAt })
        const found = await at.billing.core.subscriptions.get(subscription.id)
        assert.ok(found)
        assert.equal(hasAccess(found, new Date(trialEndsAt.getTime() + 1)), true)
      } finally {
        await at.billing.close()
      }
    })
  })
})
