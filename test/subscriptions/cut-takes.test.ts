import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { releaseCharges } from '../../src/database/charge-holds.ts'
import { hours } from '../../src/kernel/duration.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import { startStandIn } from '../support/stand-in.ts'
import { openCharging } from './charging-program.ts'
import { addDue } from './due-subscriptions.ts'

/** A provider that takes money, and a process that loses its connection when it is told to. */
async function openCut(serverUrl: string) {
  const debits: string[] = []
  const till = await startStandIn(({ target }) => {
    const [, what, id = ''] = target.split('/')
    if (what === 'charge') debits.push(id)
    return { body: { paid: debits.includes(id) } }
  })
  const proxy = await startCutProxy(serverUrl)
  const start = new Date(Math.ceil(Date.now() / 1000) * 1000)
  const now = new Date(start.getTime() + hours(1)).toISOString()
  const given = { database: { url: proxy.url }, base: till.base, now, cut: 'none' } as const
  const { context, clock, database, close } = await openCharging(given)
  const { db } = database
  const run = () => runDueSubscriptions(context, { lanes: 4 })
  return {
    proxy,
    debits,
    run,
    addThree: () => addDue(database, { start, count: 3 }),
    /** An hour or two later: payments are polled, leases and rests are over. */
    settle: async () => {
      for (let times = 0; times < 2; times += 1) {
        await releaseCharges(db)
        await sql`update billing.payments set handed_at = handed_at - interval '2 hours'
          where status = 'pending'`.execute(db)
        const { rows } = await sql<{ id: string }>`
          select id from billing.payments where status = 'pending'`.execute(db)
        for (const { id } of rows) await pollPayment(id, context)
        await sql`update billing.subscriptions set lease_until = null, lease_token = null,
          next_action_at = least(next_action_at, ${clock.now})
          where paid_until <= ${clock.now}`.execute(db)
        await run()
      }
    },
    unpaid: async () => {
      const { rows } = await sql`
        select from billing.subscriptions as one where 1 <> (
          select count(*) from billing.subscription_periods as period
          where period.subscription_id = one.id and period.state = 'paid')`.execute(db)
      return rows.length
    },
    close: async () => {
      await close()
      await proxy.close()
      await till.close()
    },
  }
}

onPostgres((engine) => {
  test('whichever statement of a take the connection is lost at, each is charged once', async () => {
    const { url = '', drop } = await engine.create()
    const at = await openCut(url)
    // The first run prepares statements.
    await at.addThree()
    await at.run()
    await at.addThree()
    const before = at.proxy.statements.length
    await at.run()
    const statements = at.proxy.statements.slice(before)
    assert.ok(statements.length >= 20)
    for (const fault of ['cut_before', 'cut_answer'] as const) {
      for (const [index, text] of statements.entries()) {
        at.debits.length = 0
        await at.addThree()
        const armed = at.proxy.next(index + 1, fault)
        // A run that cannot even look for what is due rejects.
        await at.run().catch(() => {})
        armed.release()
        await at.settle()
        assert.deepEqual([new Set(at.debits).size, at.debits.length], [3, 3], `${fault} ${text}`)
        assert.equal(await at.unpaid(), 0, `${fault} ${text}`)
      }
    }
    await at.close()
    await drop()
  })
})
