import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { startStandIn } from '../support/stand-in.ts'
import { until } from '../support/until.ts'
import { openCharging } from './charging-program.ts'
import { addDue } from './due-subscriptions.ts'
import { openSubscribing } from './subscribing.ts'

onPostgres((engine) => {
  for (const fault of ['cut_answer', 'cut_before'] as const) {
    test(`13: where the commit is cut (${fault}), nothing is sent, and it is paid once`, async () => {
      const debits: string[] = []
      const till = await startStandIn(({ target }) => {
        const [, what, id = ''] = target.split('/')
        if (what === 'charge') debits.push(id)
        return { body: { paid: debits.includes(id) } }
      })
      const { url = '', drop } = await engine.create()
      const proxy = await startCutProxy(url)
      const start = new Date(Math.ceil(Date.now() / 1000) * 1000)
      const now = new Date(start.getTime() + hours(1)).toISOString()
      const charging = { database: { url: proxy.url }, base: till.base, now, cut: 'none' } as const
      const { context, clock, database, close } = await openCharging(charging)
      const { db } = database
      await addDue(database, { start, count: 1 })
      proxy.next(/^commit/i, fault)
      await runDueSubscriptions(context)
      assert.deepEqual(debits, [])
      const pending = async () =>
        (
          await sql<{
            id: string
          }>`select id from billing.payments where status = 'pending'`.execute(db)
        ).rows
      assert.equal((await pending()).length, fault === 'cut_answer' ? 1 : 0)
      await sql`update billing.payments set handed_at = handed_at - interval '2 hours'`.execute(db)
      for (const { id } of await pending()) await pollPayment(id, context)
      await sql`update billing.subscriptions set lease_until = lease_until - interval '1 hour'`.execute(
        db,
      )
      clock.now = new Date(clock.now.getTime() + hours(1))
      await runDueSubscriptions(context)
      assert.equal(debits.length, 1)
      const { rows } =
        await sql`select from billing.subscription_periods where state = 'paid'`.execute(db)
      assert.equal(rows.length, 1)
      await close()
      await proxy.close()
      await drop()
      await till.close()
    })
  }
})

onPostgres((engine) => {
  test('a step that meets a grant under way leaves the subscription to it, and waits for nobody', async (t) => {
    const at = await openSubscribing(engine)
    t.after(() => at.billing.close())
    const { subscription: made } = await at.subscribe({ paymentMethodId: await at.card() })
    at.till.asked.length = 0
    at.pass(days(31))
    await at.billing.database.transaction(async ({ db }) => {
      await sql`select from billing.subscriptions where id = ${made.id} for no key update`.execute(
        db,
      )
      assert.equal(await at.run(), 0)
    })
    await at.run()
    assert.equal(at.till.asked.length, 1)
  })
})

onAnyDatabase((engine) => {
  test('12: a database restored from before a charge asks for the same payment: one debit', async (t) => {
    const at = await openSubscribing(engine)
    t.after(() => at.billing.close())
    const { db } = at.billing.database
    const { subscription: made } = await at.subscribe({ paymentMethodId: await at.card() })
    at.till.asked.length = 0
    // Such a provider knows the id that we send, and takes no money for it twice.
    const charge = at.script.chargeSavedCard
    at.script.chargeSavedCard = async (request, operation) => {
      assert.ok(charge)
      if (!at.till.debits.includes(request.payment.id)) return charge(request, operation)
      at.till.asked.push(request.payment.id)
      return { outcomes: [at.paidOutcome(request.payment)] }
    }
    at.pass(days(31))
    await at.run()
    const [, charged] = await at.payments(made)
    const [, period] = await at.periods(made)
    assert.ok(charged && period)
    const isTold = async () =>
      (await sql`select from billing.deferred_events where processed_at is null`.execute(db)).rows
        .length === 0
    await until(isTold, { what: 'the workers have dispatched its events' })
    // The dump is from before.
    for (const table of ['payment_transitions', 'events']) {
      await sql`delete from ${sql.table(`billing.${table}`)} where payment_id = ${charged.id}`.execute(
        db,
      )
    }
    await sql`delete from billing.deferred_events where subscription_id = ${made.id}
      and event_number > ${made.eventNumber}`.execute(db)
    await sql`delete from billing.payment_keys where payment_id = ${charged.id}`.execute(db)
    await sql`delete from billing.payments where id = ${charged.id}`.execute(db)
    await sql`delete from billing.subscription_periods where id = ${period.id}`.execute(db)
    await sql`update billing.subscriptions set paid_until = ${made.paidUntil},
      event_number = ${made.eventNumber}, next_action_at = ${made.paidUntil}
      where id = ${made.id}`.execute(db)
    await at.run()
    assert.deepEqual(at.till.asked, [charged.id, charged.id])
    assert.equal(at.till.debits.filter((id) => id === charged.id).length, 1)
    const [, again] = await at.periods(made)
    assert.deepEqual([again?.id, again?.state], [period.id, 'paid'])
  })
})
