import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { after, before, suite, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours } from '../../src/kernel/duration.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { onAnyDatabase, onPostgres, postgres, type TestEngine } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { startProcess, type Ending } from '../support/process.ts'
import { startStandIn, type StandIn } from '../support/stand-in.ts'
import { addDue } from './due-subscriptions.ts'
import { addCard, openCharging, type Charging, type Cut } from './charging-program.ts'
import { newSubscription } from './subscribing.ts'

const file = fileURLToPath(new URL('charging-program.ts', import.meta.url))

async function place(engine: TestEngine) {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    return { database: { url }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  return { database: { dataDir }, remove: async () => remove() }
}

/** What was charged, by payment, in order; it knows what it has charged. */
async function startTill(): Promise<{ readonly till: StandIn; readonly debits: string[] }> {
  const debits: string[] = []
  const till = await startStandIn(({ target }) => {
    const [, what, id = ''] = target.split('/')
    if (what === 'charge') debits.push(id)
    return { body: { paid: debits.includes(id) } }
  })
  return { till, debits }
}

onAnyDatabase((engine) => {
  suite('processes that charge', { concurrency: 1 }, () => {
    let till: StandIn
    let debits: string[]
    before(async () => {
      ;({ till, debits } = await startTill())
    })
    after(() => till.close())

    const start = new Date(Math.ceil(Date.now() / 1000) * 1000)
    const later = new Date(start.getTime() + days(32))

    const chargingOf = (database: Charging['database'], now: Date, cut: Cut): Charging => ({
      database,
      base: till.base,
      now: now.toISOString(),
      cut,
    })
    const runCut = (charging: Charging): Promise<Ending> =>
      startProcess([], { file, env: { CHARGING: JSON.stringify(charging) } }).ended

    /** Subscriptions that are paid until a month from the start. */
    const prepare = async (database: Charging['database'], count: number) => {
      const {
        context,
        database: opened,
        close,
      } = await openCharging(chargingOf(database, start, 'none'))
      for (let made = 0; made < count; made += 1) {
        const paymentMethodId = await addCard(opened)
        await createSubscription(newSubscription({ paymentMethodId }), '{}', context)
      }
      await close()
    }

    /** Whoever is left: polls what was not answered, charges what is due, until nothing is. */
    const recover = async (database: Charging['database']) => {
      const opened = await openCharging(chargingOf(database, later, 'none'))
      const { context, clock } = opened
      const { db } = opened.database
      await sql`update billing.subscriptions set lease_until = lease_until - interval '1 hour'`.execute(
        db,
      )
      for (let round = 0; round < 4; round += 1) {
        await sql`update billing.payments set handed_at = handed_at - interval '2 hours'`.execute(
          db,
        )
        const { rows } = await sql<{ id: string }>`
          select id from billing.payments where status = 'pending'`.execute(db)
        for (const { id } of rows) await pollPayment(id, context)
        await runDueSubscriptions(context)
        clock.now = new Date(clock.now.getTime() + hours(1))
      }
      const { rows } = await sql<{ state: string; number: number; paid: number }>`
        select state, number, (select count(*)::int from billing.payments
          where period_id = period.id and status = 'paid') as paid
        from billing.subscription_periods as period order by number`.execute(db)
      const { rows: statuses } = await sql<{ status: string }>`
        select status from billing.subscriptions`.execute(db)
      await opened.close()
      return { periods: rows, statuses: statuses.map(({ status }) => status) }
    }

    test('9: killed at each cut, a process leaves one debit and one grant of each', async () => {
      const count = 3
      const cuts: Cut[] = ['asking', 'answered']
      const seen: Cut[] = []
      for (let commit = 1; commit <= 12; commit += 1) cuts.push(`commit:${commit}`)
      for (const cut of cuts) {
        const { database, remove } = await place(engine)
        await prepare(database, count)
        debits.length = 0
        const { signal, stdout, stderr } = await runCut(chargingOf(database, later, cut))
        if (signal !== 'SIGKILL') {
          assert.match(stdout.join(), /done/, stderr.join('\n'))
          // There is no such commit.
          assert.ok(seen.length > 3, `${cut} was not reached`)
          await remove()
          break
        }
        seen.push(cut)
        const { periods, statuses } = await recover(database)
        assert.deepEqual(
          periods.map(({ state, paid }) => [state, paid]),
          Array.from({ length: 2 * count }, () => ['paid', 1]),
          cut,
        )
        assert.deepEqual(
          statuses,
          Array.from({ length: count }, () => 'active'),
          cut,
        )
        assert.deepEqual([debits.length, new Set(debits).size], [count, count], cut)
        await remove()
      }
      assert.ok(seen.includes('commit:1') && seen.includes('commit:2'))
    })

    test('19: the row of a worker that has died is taken by another', async () => {
      const { database, remove } = await place(engine)
      await prepare(database, 1)
      debits.length = 0
      await runCut(chargingOf(database, later, 'commit:1'))
      const opened = await openCharging(chargingOf(database, later, 'none'))
      // Its lease still holds.
      assert.equal((await runDueSubscriptions(opened.context)).steps, 0)
      await sql`update billing.subscriptions set
        lease_until = lease_until - interval '2 minutes'`.execute(opened.database.db)
      assert.ok((await runDueSubscriptions(opened.context)).steps > 0)
      assert.equal(debits.length, 1)
      await opened.close()
      await remove()
    })
  })
})

onPostgres((engine) => {
  test('8: two processes, 1,000 due subscriptions: 1,000 requests, one of each', async () => {
    const { till, debits } = await startTill()
    const { database, remove } = await place(engine)
    const start = new Date(Math.ceil(Date.now() / 1000) * 1000)
    const charging = { database, base: till.base, cut: 'none' } as const
    const opened = await openCharging({ ...charging, now: start.toISOString() })
    const { db } = opened.database
    await addDue(opened.database, { start, count: 1_000 })
    const now = new Date(start.getTime() + hours(1)).toISOString()
    const env = { CHARGING: JSON.stringify({ ...charging, now, waits: true }) }
    const running = [1, 2].map(() => startProcess([], { file, env, stdin: 'pipe' }))
    // Else one might be through before the other has begun.
    await Promise.all(running.map(({ line }) => line(/^ready$/)))
    for (const { child } of running) child.stdin?.write('begin\n')
    const endings = await Promise.all(running.map(({ ended }) => ended))
    for (const { code, stderr } of endings) assert.equal(code, 0, stderr.join('\n'))
    assert.equal(debits.length, 1_000)
    assert.equal(new Set(debits).size, 1_000)
    const { rows } = await sql<{ paid: number; until: number }>`
      select (select count(*)::int from billing.subscription_periods where state = 'paid') as paid,
        (select count(*)::int from billing.subscriptions where paid_until > ${now}) as until`.execute(
      db,
    )
    assert.deepEqual(rows, [{ paid: 1_000, until: 1_000 }])
    // Both have worked.
    for (const { stdout } of endings) assert.ok(Number(/\d+/.exec(stdout.join())?.[0]) > 100)
    await opened.close()
    await remove()
    await till.close()
  })
})
