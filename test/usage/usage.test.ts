import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { UsageInput } from '../../src/index.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { moveDueWindows } from '../../src/usage/move-windows.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onBothDatabases } from '../support/databases.ts'
import { endWindowIn, keysOf, quotaEvents, sell } from './selling.ts'

onBothDatabases((engine) => {
  describe('billing.usage', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine, {
        plans: {
          pro: {
            amount: 0,
            currency: 'UAH',
            every: 'month',
            quotas: { api_calls: { limit: 100 }, seats: { limit: 5 } },
          },
        },
      })
    })
    after(() => billing.close())
    const usage = () => billing.core.usage
    const record = (subscriptionId: string, fields: Partial<UsageInput> = {}) =>
      usage().record({ subscriptionId, quota: 'api_calls', key: newUuid(), ...fields })
    const shown = async (id: string, quota = 'api_calls') => {
      const found = await usage().get(id, quota)
      return found && `${found.used} of ${found.limit}, ${found.left} left`
    }

    test('what is recorded is counted, once for its key, and shown at once', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10 } })
      assert.equal(await shown(id), '0 of 10, 10 left')
      const first = await record(id, { units: 3, key: 'job-1' })
      assert.deepEqual({ ...first }, { result: 'counted', used: 3n, limit: 10n, left: 7n })
      const again = await record(id, { units: 3, key: 'job-1' })
      assert.deepEqual({ ...again }, { result: 'duplicate', used: 3n, limit: 10n, left: 7n })
      assert.equal((await record(id, { units: 9n, key: 'job-2' })).result, 'counted')
      assert.equal(await shown(id), '12 of 10, 0 left')
      assert.equal(JSON.stringify(first), '{"result":"counted","used":3,"limit":10,"left":7}')
    })

    test('a list is counted one by one, in its order', async () => {
      const id = await sell(billing.core, {
        api_calls: { limit: 10, percents: [50, 100] },
        seats: { limit: null },
      })
      const results = await usage().record([
        { subscriptionId: id, quota: 'api_calls', units: 6, key: 'a', enforce: true },
        { subscriptionId: id, quota: 'api_calls', units: 6, key: 'b', enforce: true },
        { subscriptionId: id, quota: 'seats', units: 2, key: 'a' },
        { subscriptionId: id, quota: 'api_calls', units: 4, key: 'c', enforce: true },
        { subscriptionId: id, quota: 'nothing', key: 'a' },
        { subscriptionId: newUuid(), quota: 'api_calls', key: 'a' },
      ])
      assert.deepEqual(
        results.map(({ result }) => result),
        ['counted', 'refused', 'counted', 'counted', 'unknown_quota', 'unknown_quota'],
      )
      assert.deepEqual(await quotaEvents(billing.database, id), [
        'api_calls 50% 6/10',
        'api_calls 100% 10/10',
      ])
      assert.deepEqual(await keysOf(billing.database, id), { keys: 3, units: 12 })
      assert.deepEqual(await usage().record([]), [])
    })

    test('what is refused leaves no key behind: it may come again', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10 } })
      const results = await usage().record(
        ['a', 'b', 'c'].map((key) => ({
          subscriptionId: id,
          quota: 'api_calls',
          units: 4,
          key,
          enforce: true,
        })),
      )
      assert.deepEqual(
        results.map(({ result }) => result),
        ['counted', 'counted', 'refused'],
      )
      const big = await record(id, { units: 11, key: 'big', enforce: true })
      assert.deepEqual({ ...big }, { result: 'refused', used: 8n, limit: 10n, left: 2n })
      assert.deepEqual(await keysOf(billing.database, id), { keys: 2, units: 8 })
      // What was counted is a duplicate, also where there is no room for it any more.
      assert.equal((await record(id, { units: 4, key: 'a', enforce: true })).result, 'duplicate')
      await billing.core.subscriptions.change(id, { quotas: { api_calls: { limit: 20 } } })
      assert.equal((await record(id, { units: 4, key: 'c', enforce: true })).result, 'counted')
    })

    test('50: one key 1,000 times at once is one count', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10 } })
      const results = await Promise.all(
        Array.from({ length: 1000 }, () => record(id, { key: 'only' })),
      )
      assert.equal(results.filter(({ result }) => result === 'counted').length, 1)
      assert.equal(results.filter(({ result }) => result === 'duplicate').length, 999)
      assert.equal(await shown(id), '1 of 10, 9 left')
    })

    test('a key that comes at once with other units counts as the first of them', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10 } })
      const results = await Promise.all([
        record(id, { key: 'k', units: 11, enforce: true }),
        record(id, { key: 'k', units: 2, enforce: true }),
        record(id, { key: 'k', units: 3 }),
      ])
      assert.deepEqual(
        results.map(({ result }) => result),
        ['refused', 'counted', 'duplicate'],
      )
      assert.equal(await shown(id), '2 of 10, 8 left')
    })

    test('quotas come of a plan, beside what is given, which counts instead', async () => {
      const id = await sell(
        billing.core,
        { seats: null, api_calls: { limit: 7, every: 'day' } },
        {
          plan: 'pro',
        },
      )
      const found = await usage().get(id)
      assert.deepEqual(
        found.map(({ quota, limit, every }) => [quota, limit, every]),
        [['api_calls', 7n, { unit: 'day', count: 1 }]],
      )
      const plain = await sell(billing.core, {}, { plan: 'pro' })
      assert.deepEqual(
        (await usage().get(plain)).map(({ quota, limit }) => `${quota} ${limit}`),
        ['api_calls 100', 'seats 5'],
      )
      assert.equal(await usage().get(plain, 'other'), undefined)
      assert.deepEqual(await usage().get(newUuid()), [])
      assert.deepEqual(await usage().get('no id'), [])
    })

    test('53: a window that is over is shown as unused, and moved by whoever records', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10, every: 'day' } })
      await record(id, { units: 10 })
      await endWindowIn(billing.database, id, 0)
      assert.equal(await shown(id), '0 of 10, 10 left')
      const before = await usage().get(id, 'api_calls')
      // Nobody has moved it yet: only what is shown is of the new window.
      const { rows } = await sql`select used from billing.usage_counters
        where subscription_id = ${id}::uuid`.execute(billing.database.db)
      assert.deepEqual(rows, [{ used: 10n }])
      assert.equal((await record(id, { units: 4, enforce: true })).result, 'counted')
      assert.equal(await shown(id), '4 of 10, 6 left')
      const now = await usage().get(id, 'api_calls')
      assert.deepEqual(now?.windowStartsAt, before?.windowStartsAt)
      assert.deepEqual(await quotaEvents(billing.database, id), [
        'api_calls 100% 10/10',
        'api_calls reset 10',
      ])
    })

    test('53: a window that is over is moved although nobody records', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10, every: 'day' } })
      await record(id, { units: 10 })
      await endWindowIn(billing.database, id, 0)
      const context = await billing.runtime.context()
      assert.equal(await moveDueWindows(context), 1)
      assert.equal(await moveDueWindows(context), 0)
      assert.deepEqual(await quotaEvents(billing.database, id), [
        'api_calls 100% 10/10',
        'api_calls reset 10',
      ])
      assert.equal(await shown(id), '0 of 10, 10 left')
    })

    test('a changed limit counts at once; what it takes back is reached anew', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10, percents: [80, 100] } })
      await record(id, { units: 10 })
      const change = (limit: number | null) =>
        billing.core.subscriptions.change(id, { quotas: { api_calls: { limit } } })
      await change(20)
      assert.equal(await shown(id), '10 of 20, 10 left')
      await record(id, { units: 6 })
      await change(16)
      await change(null)
      assert.equal(await shown(id), '16 of null, null left')
      assert.deepEqual(await quotaEvents(billing.database, id), [
        'api_calls 80% 10/10',
        'api_calls 100% 10/10',
        'api_calls 80% 16/20',
        'api_calls 100% 16/16',
      ])
      await billing.core.subscriptions.change(id, { quotas: { api_calls: null } })
      assert.equal(await shown(id), undefined)
      await assert.rejects(
        record(id),
        /^QuittanceError: quota .*; no subscription of this id has quotas$/,
      )
    })

    test('windows of another length begin anew', async () => {
      const id = await sell(billing.core, { api_calls: { limit: 10 } })
      await record(id, { units: 10 })
      const quotas = { api_calls: { limit: 10, every: 'week' } } as const
      await billing.core.subscriptions.change(id, { quotas })
      assert.equal(await shown(id), '0 of 10, 10 left')
      const found = await usage().get(id, 'api_calls')
      const length = Number(found?.windowEndsAt) - Number(found?.windowStartsAt)
      assert.equal(length, 7 * 24 * 60 * 60 * 1000)
      assert.deepEqual(await quotaEvents(billing.database, id), [
        'api_calls 100% 10/10',
        'api_calls reset 10',
      ])
    })

    test('before its first period is paid a subscription has no quota to use', async () => {
      const fields = { amount: 100, returnUrl: 'http://localhost:3000/' }
      const id = await sell(billing.core, { api_calls: { limit: 10 } }, fields)
      const found = await usage().get(id, 'api_calls')
      assert.deepEqual([found?.windowStartsAt, found?.left], [null, 0n])
      assert.equal((await record(id, { enforce: true })).result, 'refused')
      assert.equal((await record(id)).result, 'counted')
      assert.deepEqual(await quotaEvents(billing.database, id), [])
    })

    test('input that is wrong is refused whole, naming the field and the place', async () => {
      const id = newUuid()
      const good = { subscriptionId: id, quota: 'api_calls', key: 'a' }
      const wrong: readonly [unknown, string][] = [
        [{ ...good, units: 0 }, 'units must be a whole number from 1 to 9007199254740991'],
        [{ ...good, units: 1.5 }, 'units must be a whole number from 1 to 9007199254740991'],
        [{ ...good, subscriptionId: 'x' }, 'subscriptionId must be a UUID'],
        [
          { ...good, quota: 'API' },
          'quota must be a name of a-z, 0-9, "_", "." and "-", 64 characters at most',
        ],
        [{ subscriptionId: id, quota: 'a' }, 'key is required'],
        [
          { ...good, other: 1 },
          'unknown field "other"; there are subscriptionId, quota, units, key, enforce',
        ],
        [
          [good, { ...good, key: '' }],
          '1.key must be text of 1 to 200 characters without control characters',
        ],
        [[good, 7], '1 the input must be an object with fields'],
        [Array.from({ length: 1001 }, () => good), 'at most 1000 records at a time, got 1001'],
        [undefined, 'the input must be an object with fields'],
      ]
      for (const [input, message] of wrong) {
        await assert.rejects(usage().record(input as UsageInput), {
          code: 'usage_invalid',
          message,
        })
      }
    })

    test('quotas that are wrong are refused, naming the field', async () => {
      const wrong: readonly [unknown, RegExp][] = [
        [{ API: { limit: 1 } }, /^quotas must be an object with at most 50 quotas/],
        [{ a: {} }, /^quotas\.a\.limit is required/],
        [{ a: { limit: -1 } }, /^quotas\.a\.limit must be a whole number of units from 0/],
        [{ a: { limit: 1, every: 'hour' } }, /^quotas\.a\.every must be day, week/],
        [{ a: { limit: 1, percents: [100, 80] } }, /^quotas\.a\.percents.* must be whole numbers/],
        [
          { a: { limit: 1, most: 3 } },
          /quotas\.a has the unknown key most|unknown field "quotas\.a\.most"/,
        ],
      ]
      for (const [quotas, message] of wrong) {
        await assert.rejects(sell(billing.core, quotas as never), {
          code: 'subscription_invalid',
          message,
        })
      }
    })
  })
})
