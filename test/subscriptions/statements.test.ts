import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Kysely, KyselyPlugin } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { days } from '../../src/kernel/duration.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openSubscribing } from './subscribing.ts'

/** Besides what begins and ends its two transactions, and three looks at the clock, passed here. */
const mostOfRenewal = 22
/** With nothing due any more: of what we charge, and of what providers manage. */
const ofLook = 2

forEachDatabase((engine) => {
  suite('statements of a renewal', () => {
    test('a renewal that is paid at once reads each thing once in each transaction', async () => {
      const subscribing = await openSubscribing(engine)
      await using billing = subscribing.billing
      const { context, pass, subscribe, card, periods } = subscribing
      const subscription = await subscribe({ paymentMethodId: await card() })
      await subscribing.run()
      pass(days(32))
      let statements = 0
      const plugin: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          statements += 1
          return result
        },
      }
      const counted = (db: Kysely<Tables>) => db.withPlugin(plugin)
      const { database } = context.processing
      assert.equal(database, billing.database)
      const counting: typeof database = {
        ...database,
        db: counted(database.db),
        transaction: (work) => database.transaction((one) => work({ ...one, db: counted(one.db) })),
      }
      const woken: (string | undefined)[] = []
      const wake = (what?: string) => void woken.push(what)
      const processing = { ...context.processing, database: counting, wake }
      const { steps } = await runDueSubscriptions({ ...context, processing }, { lanes: 1 })
      assert.equal(steps, 1)
      assert.equal((await periods(subscription.subscription)).at(-1)?.state, 'paid')
      assert.ok(statements - ofLook <= mostOfRenewal, `${statements - ofLook} statements`)
      assert.deepEqual(woken, ['subscription_events'], 'workers look for its event, once')
    })
  })
})
