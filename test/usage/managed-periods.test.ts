import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../../src/kernel/duration.ts'
import { giveQuotas } from '../../src/money/give-quotas.ts'
import { readUsageOf } from '../../src/usage/read-usage.ts'
import {
  begun,
  monthFrom,
  openManaging,
  renews,
  rings,
  statementOf,
} from '../subscriptions/managing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { quotaEvents } from './selling.ts'

forEachDatabase((engine) => {
  test('a period that its provider begins early begins a new window at once', async (t) => {
    const at = await openManaging(engine)
    t.after(() => at.billing.close())
    await begun(at, 'sub_1')
    const subscription = await at.state('sub_1')
    const { processing, queue } = at.context
    const { database, newId } = processing
    const wanted = { api_calls: { limit: 10n } }
    await database.transaction(({ db }) =>
      giveQuotas(
        db,
        { subscription, wanted, now: at.clock.now },
        { cause: 'operator', newId, queue },
      ),
    )
    at.pass(days(10))
    // Another plan there, which is charged for anew from today.
    const period = monthFrom(at.clock.now)
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now))
    await at.say(renews('sub_1', 'ch_early', { period }), rings('sub_1'))
    await at.run()
    const [shown] = await readUsageOf(database.db, { subscriptionId: subscription.id }, processing)
    assert.deepEqual({ startsAt: shown?.windowStartsAt, endsAt: shown?.windowEndsAt }, period)
    assert.deepEqual(await quotaEvents(database, subscription.id), ['api_calls reset 10'])
  })
})
