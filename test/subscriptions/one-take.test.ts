import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql, type KyselyPlugin } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { databaseNow } from '../../src/database/now.ts'
import type { ChargeReply } from '../../src/gateways/operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { addDue } from './due-subscriptions.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers, openSubscribing } from './subscribing.ts'

/** The same, but its statements are counted, with the beginning and the end of each transaction. */
function counted(context: MoneyContext): {
  readonly context: MoneyContext
  statements(): number
} {
  let sent = 0
  const { database } = context.processing
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      sent += 1
      return result
    },
  }
  const counting: Database = {
    ...database,
    db: database.db.withPlugin(counter),
    transaction: (work) =>
      database.transaction((one) => {
        sent += 2
        return work({ ...one, db: one.db.withPlugin(counter) })
      }),
  }
  const processing = { ...context.processing, database: counting, subscriptionTime: databaseNow }
  return { context: { ...context, processing }, statements: () => sent }
}

onPostgres((engine) => {
  test('a take of one subscription, or of four, is renewed with 31 statements at most', async (t) => {
    const at = await openSubscribing(engine)
    t.after(() => at.billing.close())
    const { database } = at.billing
    const { context, statements } = counted(at.context)
    const start = new Date(Math.floor(Date.now() / 1000) * 1000 - hours(1))
    const taking = async (count: number) => {
      await addDue(database, { start, count })
      const before = statements()
      assert.equal((await runDueSubscriptions(context, { lanes: Math.max(1, count) })).steps, count)
      return statements() - before
    }
    // In the end a run looks whether anything is due.
    const idle = await taking(0)
    // How often it looks for more, while an answer is written, is a matter of time.
    for (const count of [1, 4]) assert.ok((await taking(count)) - idle <= 31)
  })
})

onAnyDatabase((engine) => {
  describe('of the subscriptions of one take', () => {
    let at: Renewing
    before(async () => {
      at = await openRenewing(engine)
    })
    after(() => at.billing.close())
    beforeEach(() => at.reset())

    const threeDue = async () => {
      const made = [await at.renewable(), await at.renewable(), await at.renewable()] as const
      at.pass(days(32))
      return made
    }
    const lastStatuses = async (made: readonly { readonly id: string }[]) =>
      Promise.all(made.map(async (one) => (await at.statuses(one)).at(-1)))
    const periods = async (made: readonly { readonly id: string }[]) =>
      Promise.all(made.map(async (one) => (await at.periods(one)).length))

    test('one that cannot be decided keeps no other from its charge', async () => {
      const made = await threeDue()
      const { db } = at.billing.database
      await sql`update billing.subscriptions set time_zone = 'Nowhere' where id = ${made[1].id}`.execute(
        db,
      )
      await at.run()
      assert.deepEqual(await periods(made), [2, 1, 2])
      assert.equal(at.till.asked.length, 2)
      // It is due again, but not at once.
      const { nextActionAt } = await at.state(made[1])
      assert.ok(nextActionAt !== null && nextActionAt > at.clock.now)
    })

    test('each is answered by itself: one that waits keeps no other waiting', async () => {
      const context = { ...at.context, answerWithin: days(1) }
      const late = Promise.withResolvers<ChargeReply>()
      const made = await threeDue()
      answers(at, () => late.promise)
      const run = runDueSubscriptions(context, { lanes: 3 })
      const paid = async () =>
        (await lastStatuses(made)).filter((status) => status === 'paid').length
      const isPaid = async () => (await paid()) === 2 && (await periods(made)).every((n) => n === 2)
      await until(isPaid, { what: 'the two others are paid' })
      late.resolve({ outcomes: [] })
      await run
      assert.deepEqual(new Set(await lastStatuses(made)), new Set(['paid', 'pending']))
    })

    const lastPayments = async (made: readonly { readonly id: string }[]) =>
      (await Promise.all(made.map(at.payments))).flatMap((all) => all.at(-1) ?? [])

    test('what is no answer at all keeps no other from being heard', async () => {
      const made = await threeDue()
      answers(at, async () => undefined as never)
      await at.run()
      const payments = await lastPayments(made)
      const ends = payments.map(({ status, checkout }) => `${status} ${checkout}`)
      assert.deepEqual(ends.toSorted(), ['paid closed', 'paid closed', 'pending unknown'])
      const [why] = payments.flatMap(({ operationError }) => operationError ?? [])
      assert.match(why ?? '', /undefined/)
    })

    test('an answer that cannot be applied leaves its ids, by which a poll asks', async () => {
      const made = await threeDue()
      answers(at, async ({ payment }) => ({
        providerReference: `ch_${payment.id}`,
        outcomes: [
          at.paidOutcome(payment),
          { type: 'payment_method', status: 'attached', reference: 'a\0b' },
        ],
      }))
      await at.run()
      const payments = await lastPayments(made)
      const left = payments.filter(({ status }) => status === 'pending')
      assert.deepEqual(
        left.map(({ id, checkout, providerReference }) => [
          checkout,
          providerReference === `ch_${id}`,
        ]),
        [['open', true]],
      )
      assert.equal(payments.filter(({ status }) => status === 'paid').length, 2)
    })

    test('a decline that cannot be applied leaves its charge in the way of the next', async () => {
      const made = await threeDue()
      const { db } = at.billing.database
      answers(at, async () => {
        await sql`update billing.subscriptions set time_zone = 'Nowhere'`.execute(db)
        throw new QuittanceError('provider_refused', 'no', { providerCode: 'no_money' })
      })
      await at.run()
      await sql`update billing.subscriptions set time_zone = 'UTC'`.execute(db)
      const ends = (await lastPayments(made)).map(({ checkout }) => checkout)
      assert.equal(ends.filter((checkout) => checkout === 'unknown').length >= 1, true)
      assert.equal(ends.includes('closed'), false)
    })

    test('an answer that names the charge of another payment changes nothing for the others', async () => {
      const made = await threeDue()
      const same = async ({ payment }: { payment: Parameters<Renewing['paidOutcome']>[0] }) => ({
        outcomes: [at.paidOutcome(payment)],
        providerReference: 'ch_same',
      })
      answers(at, same, same)
      await at.run()
      assert.equal(at.till.asked.length, 3)
      assert.deepEqual(new Set(await lastStatuses(made)), new Set(['paid', 'pending']))
    })
  })
})
