import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { change, pauseNowOrLater, resume } from '../../src/money/change-subscription.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import type { NewSubscription } from '../../src/subscriptions/change.ts'
import type { WantedQuotas } from '../../src/subscriptions/subscription.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { moveDueWindows } from '../../src/usage/move-windows.ts'
import { readUsageOf } from '../../src/usage/read-usage.ts'
import { onAnyDatabase, type TestEngine } from '../support/databases.ts'
import {
  answers,
  declined,
  newSubscription,
  openSubscribing,
  takesMoney,
} from '../subscriptions/subscribing.ts'
import { quotaEvents } from './selling.ts'

const monthly = { api_calls: { limit: 10n } }

async function open(engine: TestEngine) {
  const subscribing = await openSubscribing(engine)
  const { billing, context } = subscribing
  const { processing, queue } = context
  const { database } = billing
  const usage = createUsageGathering({ processing, queue, log: silentLog })
  const selling = {
    ...context,
    subscriptions: { plans: {}, graceAccess: true, timeZone: 'UTC' },
  }
  return {
    ...subscribing,
    selling,
    sell: async (fields: Partial<NewSubscription>, quotas: WantedQuotas = monthly) => {
      const { subscription } = await createSubscription(newSubscription(fields), '{}', {
        ...context,
        quotas,
      })
      return subscription.id
    },
    use: async (subscriptionId: string, units = 10n) => {
      const one = { subscriptionId, quota: 'api_calls', units, key: newUuid(), enforce: true }
      return (await usage.record([one]))[0]?.result
    },
    shown: async (subscriptionId: string) => {
      const [found] = await readUsageOf(database.db, { subscriptionId }, processing)
      return found && { used: found.used, from: found.windowStartsAt, to: found.windowEndsAt }
    },
    fired: (subscriptionId: string) => quotaEvents(database, subscriptionId),
  }
}

onAnyDatabase((engine) => {
  suite('quotas of paid periods', () => {
    let shop: Awaited<ReturnType<typeof open>>
    before(async () => {
      shop = await open(engine)
    })
    after(() => shop.billing.close())
    beforeEach(async () => {
      takesMoney(shop.script, shop.till)
      const { db } = shop.billing.database
      await sql`update billing.subscriptions set next_action_at = null`.execute(db)
      await sql`delete from billing.usage_counters`.execute(db)
    })

    test('a renewal that is paid gives a new quota, seen at once; one that is not gives none', async () => {
      const id = await shop.sell({ paymentMethodId: await shop.card() })
      assert.equal(await shop.use(id), 'counted')
      assert.equal(await shop.use(id, 1n), 'refused')
      const first = await shop.shown(id)
      // Declined: the old window goes on.
      answers(shop, declined())
      shop.pass(days(32))
      await shop.run()
      assert.equal((await shop.state({ id })).status, 'past_due')
      assert.equal(await moveDueWindows(shop.context), 0)
      assert.equal(await shop.use(id, 1n), 'refused')
      assert.deepEqual(await shop.shown(id), first)
      assert.deepEqual(await shop.fired(id), ['api_calls 100% 10/10'])
      // The retry is paid.
      shop.pass(days(1) + hours(1))
      await shop.run()
      assert.equal((await shop.state({ id })).status, 'active')
      const second = await shop.shown(id)
      assert.deepEqual([second?.used, second?.from], [0n, first?.to])
      assert.equal(await shop.use(id), 'counted')
      assert.deepEqual(await shop.fired(id), [
        'api_calls 100% 10/10',
        'api_calls reset 10',
        'api_calls 100% 10/10',
      ])
    })

    test('where nobody records, a window is moved soon after its renewal, and once', async () => {
      const id = await shop.sell({ paymentMethodId: await shop.card() })
      shop.pass(days(31))
      // Its renewal is due, and not made yet: it is looked for again, later each time.
      assert.equal(await moveDueWindows(shop.context), 0)
      await shop.run()
      shop.pass(hours(1))
      assert.equal(await moveDueWindows(shop.context), 1)
      assert.equal(await moveDueWindows(shop.context), 0)
      assert.deepEqual(await shop.fired(id), ['api_calls reset 10'])
      await change(id, { quotas: { api_calls: { limit: 10n } } }, shop.selling)
      assert.deepEqual(await shop.fired(id), ['api_calls reset 10'])
    })

    test('the quotas of another plan come when its first period is paid', async () => {
      const every = { unit: 'month', count: 1 } as const
      const daily = { every: { unit: 'day', count: 1 }, percents: [50] } as const
      const plan = { amount: 4_999n, currency: 'UAH', every, trialDays: 0 }
      const plans = {
        basic: { ...plan, quotas: { api_calls: { limit: 10n, ...daily }, seats: { limit: 1n } } },
        pro: {
          ...plan,
          amount: 9_999n,
          quotas: { api_calls: { limit: 20n }, disk: { limit: 5n } },
        },
      }
      const selling = { ...shop.selling, subscriptions: { ...shop.selling.subscriptions, plans } }
      const { quotas } = plans.basic
      const sold = async () =>
        shop.sell(
          { plan: 'basic', paymentMethodId: await shop.card() },
          { ...quotas, gift: { limit: 3n } },
        )
      const limits = async (subscriptionId: string) => {
        const { db } = shop.billing.database
        const found = await readUsageOf(db, { subscriptionId }, shop.context.processing)
        return found.map(({ quota, limit, used, every: own, percents }) => {
          const isUsual = own === null && percents.join() === '100'
          return `${quota} ${used}/${limit}${isUsual ? '' : ` a ${own?.unit}, at ${percents.join()} %`}`
        })
      }
      const [id, kept, later, partly] = [await sold(), await sold(), await sold(), await sold()]
      assert.equal(await shop.use(id, 4n), 'counted')
      await change(id, { plan: 'pro' }, selling)
      await change(kept, { plan: 'pro', quotas: 'keep' }, selling)
      await change(later, { plan: 'pro' }, selling)
      await change(later, { quotas: 'keep' }, selling)
      await change(partly, { plan: 'pro', quotas: { disk: { limit: 1n } } }, selling)
      assert.deepEqual(await limits(id), ['api_calls 4/10 a day, at 50 %', 'gift 0/3', 'seats 0/1'])
      shop.pass(days(32))
      await shop.run()
      assert.deepEqual(await limits(id), ['api_calls 0/20', 'disk 0/5', 'gift 0/3'])
      assert.deepEqual(await limits(kept), [
        'api_calls 0/10 a day, at 50 %',
        'gift 0/3',
        'seats 0/1',
      ])
      assert.deepEqual(await limits(later), await limits(kept))
      assert.deepEqual(await limits(partly), ['api_calls 0/20', 'disk 0/1', 'gift 0/3'])
      assert.ok((await shop.fired(id)).includes('api_calls reset 20'))
      const { dueQuotas, nextTerms } = await shop.state({ id })
      assert.deepEqual([dueQuotas, nextTerms], [null, null])

      // Its first period is not paid, and the terms are changed again: that pays nothing.
      const late = await sold()
      await change(late, { plan: 'pro' }, selling)
      answers(shop, ...Array.from({ length: 5 }, () => declined()))
      shop.pass(days(32))
      await shop.run()
      await change(late, { amount: 8_999n, quotas: { gift: { limit: 4n } } }, selling)
      await shop.run()
      assert.equal((await shop.state({ id: late })).status, 'past_due')
      assert.deepEqual(await limits(late), [
        'api_calls 0/10 a day, at 50 %',
        'gift 0/4',
        'seats 0/1',
      ])
      shop.pass(days(1) + hours(1))
      await shop.run()
      assert.deepEqual(await limits(late), ['api_calls 0/20', 'disk 0/5', 'gift 0/4'])
    })

    test('what is given before those of a plan are counts instead, and others stay', async () => {
      const id = await shop.sell(
        { paymentMethodId: await shop.card() },
        { ...monthly, constructor: { limit: 1n } },
      )
      const due = JSON.stringify({ api_calls: { limit: '20' }, disk: { limit: '5' } })
      await sql`update billing.subscriptions set due_quotas = ${due}::json
        where id = ${id}::uuid`.execute(shop.billing.database.db)
      await change(id, { quotas: { api_calls: { limit: 30n } } }, shop.selling)
      const { db } = shop.billing.database
      const found = await readUsageOf(db, { subscriptionId: id }, shop.context.processing)
      assert.deepEqual(
        found.map(({ quota, limit }) => [quota, limit]),
        [
          ['api_calls', 30n],
          ['constructor', 1n],
          ['disk', 5n],
        ],
      )
      assert.equal((await shop.state({ id })).dueQuotas, null)
    })

    test('a trial is a window, which ends with it, also when its end is moved', async () => {
      const trialEndsAt = new Date(shop.clock.now.getTime() + days(14))
      const id = await shop.sell({ trialEndsAt, paymentMethodId: await shop.card() })
      assert.equal(await shop.use(id), 'counted')
      assert.deepEqual((await shop.shown(id))?.to, trialEndsAt)
      const sooner = new Date(shop.clock.now.getTime() + days(2))
      await change(id, { trialEndsAt: sooner }, shop.selling)
      assert.deepEqual((await shop.shown(id))?.to, sooner)
      shop.pass(days(3))
      await shop.run()
      const shown = await shop.shown(id)
      assert.deepEqual([shown?.used, shown?.from], [0n, sooner])
      assert.equal(await shop.use(id), 'counted')
    })

    test('a period that is paid on a page begins the first window, which is no reset', async () => {
      const id = await shop.sell({})
      assert.equal(await shop.use(id), 'refused')
      assert.deepEqual(await shop.shown(id), { used: 0n, from: null, to: null })
      const [payment] = await shop.payments({ id })
      assert.ok(payment)
      await change(id, { paymentMethodId: await shop.card() }, shop.selling)
      shop.script.poll = async () => ({
        outcomes: [shop.paidOutcome(payment)],
        standing: 'paid',
        listsRefunds: false,
      })
      await shop.billing.core.payments.poll(payment.id)
      shop.pass(1000)
      assert.equal((await shop.state({ id })).status, 'active')
      assert.equal(await shop.use(id, 4n), 'counted')
      assert.equal((await shop.shown(id))?.used, 4n)
      assert.deepEqual(await shop.fired(id), [])
    })

    test('a window after a pause begins with the period that ends it; after the end none does', async () => {
      const id = await shop.sell(
        { paymentMethodId: await shop.card() },
        { api_calls: { limit: 10n }, exports: { limit: 3n, every: { unit: 'day', count: 1 } } },
      )
      await shop.use(id)
      await pauseNowOrLater(id, { at: 'now' }, shop.selling)
      shop.pass(days(60))
      await moveDueWindows(shop.context)
      assert.equal((await shop.shown(id))?.used, 10n)
      const resumedAt = shop.clock.now
      await resume(id, shop.selling)
      const shown = await shop.shown(id)
      assert.deepEqual([shown?.used, shown?.from], [0n, resumedAt])
      await shop.use(id, 5n)
      const before = await shop.fired(id)
      await shop.billing.core.subscriptions.cancel(id, { at: 'now' })
      shop.pass(days(400))
      await moveDueWindows(shop.context)
      assert.equal((await shop.shown(id))?.used, 5n)
      assert.deepEqual(await shop.fired(id), before)
      assert.equal(await moveDueWindows(shop.context), 0)
    })

    test('a clock that was ahead gives no window for ever', async () => {
      const every = { unit: 'day', count: 1 } as const
      const id = await shop.sell(
        { paymentMethodId: await shop.card() },
        { api_calls: { limit: 10n, every } },
      )
      shop.pass(days(365))
      assert.equal(await shop.use(id), 'counted')
      shop.pass(-days(364))
      assert.equal((await shop.shown(id))?.used, 0n)
      assert.equal(await shop.use(id), 'counted')
    })
  })
})
