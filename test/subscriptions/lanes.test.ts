import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { holdCharges } from '../../src/database/charge-holds.ts'
import type { Database } from '../../src/database/connect.ts'
import { days } from '../../src/kernel/duration.ts'
import type { ChargeReply } from '../../src/gateways/operations.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { runDueSubscriptions, startSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { openRenewing, type Renewing } from './renewing.ts'
import { answers } from './subscribing.ts'

/** The same process, but its transactions are run like this. */
function within(context: MoneyContext, transaction: Database['transaction']): MoneyContext {
  const { processing } = context
  return {
    ...context,
    processing: { ...processing, database: { ...processing.database, transaction } },
  }
}

/** One that is due, and whose charge is answered when the test wants it to be. */
async function asking(renewing: Renewing) {
  // The provider has as long as the test needs.
  const at = { ...renewing, context: { ...renewing.context, answerWithin: days(1) } }
  const answer = Promise.withResolvers<ChargeReply>()
  const { subscription } = await at.subscribe({ paymentMethodId: await at.card() })
  at.till.asked.length = 0
  answers(at, () => answer.promise)
  at.pass(days(32))
  const isAsked = () =>
    until(() => at.till.asked.length === 1, { what: 'the provider is asked for a charge' })
  return { ...at, first: subscription, answer, isAsked }
}

onAnyDatabase((engine) => {
  let renewing: Renewing
  before(async () => {
    renewing = await openRenewing(engine)
  })
  after(() => renewing.billing.close())
  beforeEach(() => renewing.reset())

  test('what falls due while a charge waits for its answer is charged beside it', async () => {
    const at = await asking(renewing)
    const stop = startSubscriptions(at.context, { lanes: 2 })
    await at.isAsked()
    const paidUntil = new Date(at.clock.now.getTime() + days(1))
    const { subscription } = await at.subscribe({ paymentMethodId: await at.card(), paidUntil })
    at.pass(days(2))
    try {
      await until(async () => (await at.payments(subscription)).at(-1)?.status === 'paid', {
        what: 'the other is charged',
      })
    } finally {
      answer(at)
      await stop()
    }
  })

  test('a run that loses its database between two subscriptions ends after the charges under way', async () => {
    const at = await asking(renewing)
    const { processing } = at.context
    let looks = 0
    const subscriptionTime: typeof processing.subscriptionTime = async (db) => {
      const isLook = db === at.billing.database.db
      if (isLook && looks > 0) throw new Error('the database is gone')
      looks += Number(isLook)
      return at.clock.now
    }
    const context = { ...at.context, processing: { ...processing, subscriptionTime } }
    let isOver = false
    const run = assert.rejects(
      runDueSubscriptions(context, { lanes: 2 }).finally(() => {
        isOver = true
      }),
      /the database is gone/,
    )
    await at.isAsked()
    assert.equal(isOver, false)
    answer(at)
    await run
    assert.equal((await at.payments(at.first)).at(-1)?.status, 'paid')
  })

  /** The same process, but the provider allows so many charges a minute. */
  const allowing = (chargesPerMinute: number): MoneyContext => {
    const { processing } = renewing.context
    const find: typeof processing.gateways.find = (name) => {
      const found = processing.gateways.find(name)
      return found && { ...found, gateway: { ...found.gateway, chargesPerMinute } }
    }
    return {
      ...renewing.context,
      processing: { ...processing, gateways: { ...processing.gateways, find } },
    }
  }

  test('a provider is asked for no more charges than it allows', async () => {
    for (let count = 0; count < 4; count += 1) await renewing.renewable()
    renewing.pass(days(32))
    const begun = performance.now()
    await runDueSubscriptions(allowing(600), { lanes: 1 })
    assert.equal(renewing.till.asked.length, 4)
    assert.ok(performance.now() - begun >= 300)
  })

  test(
    'what asks for no charge uses up none that a provider allows',
    { timeout: 20_000 },
    async () => {
      for (let count = 0; count < 3; count += 1) await renewing.renewable()
      renewing.pass(days(32))
      await holdCharges(renewing.billing.database.db, 'a test')
      assert.equal((await runDueSubscriptions(allowing(1), { lanes: 1 })).steps, 3)
      assert.deepEqual(renewing.till.asked, [])
    },
  )

  test('that a charge waits for its payer is told, even if writing it down takes a second try', async () => {
    const at = await asking(renewing)
    at.answer.resolve({ outcomes: [], needsPayer: true })
    const deadlock = Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' })
    let afterwards = 0
    const { transaction } = at.billing.database
    const context = within(at.context, async (work) => {
      if (at.till.asked.length > 0) afterwards += 1
      // The first writes the answer, the second what follows for the subscription.
      if (afterwards === 2) throw deadlock
      return transaction(work)
    })
    await runDueSubscriptions(context, { lanes: 1 })
    assert.equal((await at.state(at.first)).status, 'past_due')
    assert.equal((await at.periods(at.first)).at(-1)?.needs, 'confirmation')
  })
})

function answer(at: Awaited<ReturnType<typeof asking>>): void {
  const [id = ''] = at.till.asked
  void at.payments(at.first).then((payments) => {
    const payment = payments.find((one) => one.id === id)
    at.answer.resolve({ outcomes: payment === undefined ? [] : [at.paidOutcome(payment)] })
  })
}
