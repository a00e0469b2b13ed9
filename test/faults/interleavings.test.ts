import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { BillingCore } from '../../src/billing/types.ts'
import { awaitingKey } from '../../src/outcomes/waiting-calls.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase, onPostgres, postgres } from '../support/databases.ts'
import {
  newPayment,
  openBilling,
  sendFake,
  idle,
  until,
  type TestBilling,
} from '../support/billing.ts'

/** Sends as a gateway does: again while the answer is 503, which a busy machine may give. */
async function sendUntilTaken(
  core: BillingCore,
  id: string,
  result: 'success' | 'failure',
): Promise<number> {
  let status = 0
  const isTaken = async () => (status = (await sendFake(core, id, result)).status) !== 503
  await until(isTaken, { what: 'it is taken' })
  return status
}

/** What no worker has looked at again, the sweeper finds after a minute, and says so. */
const sweptIn = (lines: readonly Record<string, unknown>[]) =>
  lines.filter(({ msg }) => msg === 'early callbacks found their payment')

onAnyDatabase((engine) => {
  // Statements of the embedded database take turns: fewer races show as much.
  const races = engine === postgres ? 1_000 : 200
  const creations = engine === postgres ? 500 : 100
  let billing: TestBilling
  const { log, lines } = capturedLog()

  before(async () => {
    // The second that the embedded database has by default may pass in one slow moment of a busy
    // machine, and would cost an attempt.
    billing = await openBilling(engine, { listenerBudgetMs: 20_000, log })
    const { core } = billing
    await sql`create table told (
      place bigint generated always as identity, type text, payment_id uuid
    )`.execute(billing.database.db)
    core.on(['PaymentSucceeded', 'PaymentFailed'], 'teller', async (event, { tx }) => {
      const values = [event.type, event.payment.id]
      await tx.query('insert into told (type, payment_id) values ($1, $2)', values)
    })
    await core.work()
  })
  after(() => billing.close())

  /** Runs `one` so many times, some at a time. */
  async function repeat(times: number, one: () => Promise<void>): Promise<void> {
    let left = times
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        while (left > 0) {
          left -= 1
          await one()
        }
      }),
    )
  }

  const soon = () => pause(Math.random() * 4)
  /** A callback has been processed that waits for this payment. */
  const isAwaited = (id: string) =>
    until(
      async () => {
        const { rows } = await sql`
          select from billing.webhook_calls where awaiting = ${awaitingKey('fake', { id })}`.execute(
          billing.database.db,
        )
        return rows.length > 0
      },
      { what: 'its callback is processed' },
    )

  test(`failed and paid racing, ${races} interleavings: always paid, never PaymentFailed after PaymentSucceeded`, async () => {
    const { core, database } = billing
    const ids: string[] = []
    await repeat(races, async () => {
      const payment = await newPayment(core)
      ids.push(payment.id)
      const answers = await Promise.all([
        soon().then(() => sendUntilTaken(core, payment.id, 'failure')),
        soon().then(() => sendUntilTaken(core, payment.id, 'success')),
        soon().then(() => sendUntilTaken(core, payment.id, 'success')),
      ])
      assert.deepEqual(answers, [200, 200, 200])
    })
    await idle(core)
    const { rows: statuses } = await sql<{ status: string; count: bigint }>`
      select status, count(*) as count from billing.payments
      where id = any(${ids}::uuid[]) group by status`.execute(database.db)
    assert.deepEqual(statuses, [{ status: 'paid', count: BigInt(races) }])
    const { rows: wrong } = await sql`
      select s.payment_id from told s join told f on f.payment_id = s.payment_id
      where s.type = 'PaymentSucceeded' and f.type = 'PaymentFailed' and f.place > s.place`.execute(
      database.db,
    )
    assert.deepEqual(wrong, [])
    const { rows: told } = await sql<{ most: bigint; succeeded: bigint }>`
      select max(times) as most, count(*) filter (where type = 'PaymentSucceeded') as succeeded
      from (select payment_id, type, count(*) as times from told group by 1, 2) as t`.execute(
      database.db,
    )
    assert.deepEqual(told, [{ most: 1n, succeeded: BigInt(races) }])
    // They wait for each other at the payment's row, and none fails for having lost the race.
    const { rows: tries } = await sql<{ attempts: number }>`
      select max(attempts) as attempts from billing.webhook_calls`.execute(database.db)
    assert.deepEqual(tries, [{ attempts: 0 }])
  })

  test(`creation racing its early callback, ${creations} interleavings: always settled`, async () => {
    const { core, database } = billing
    const ids: string[] = []
    await repeat(creations, async () => {
      const id = randomUUID()
      ids.push(id)
      const sent = soon()
        .then(() => sendUntilTaken(core, id, 'success'))
        .then((status) => assert.equal(status, 200))
      // Half of them after their callback has been processed.
      const before = ids.length % 2 === 0 ? soon() : sent.then(() => isAwaited(id))
      await Promise.all([before.then(() => newPayment(core, { id })), sent])
    })
    await idle(core)
    const swept = sweptIn(lines).length
    const count = async () => {
      const { rows } = await sql<{ status: string; events: bigint; count: bigint }>`
        select status, events, count(*) as count from (
          select p.status, count(e.id) as events from billing.payments p
          left join billing.events e on e.payment_id = p.id
          where p.id = any(${ids}::uuid[]) group by p.id) as each
        group by status, events`.execute(database.db)
      return rows
    }
    // An early callback looks finished for a moment, until the worker has looked again.
    const isPaid = async () => (await count()).every(({ status }) => status === 'paid')
    await until(isPaid, { what: 'all are paid' })
    assert.equal(sweptIn(lines).length, swept, 'no worker has looked again')
    assert.deepEqual(await count(), [{ status: 'paid', events: 1n, count: BigInt(creations) }])
  })
})

onPostgres((engine) => {
  test('a payment created while its early callback is being finished: the worker looks again', async () => {
    const { log, lines } = capturedLog()
    await using billing = await openBilling(engine, { log })
    const { core, database } = billing
    // Stops the worker after it has not found the payment, before it commits that it waits.
    await database.pool.query(`
      create function stop_here() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
      create trigger stop_here before update on billing.webhook_calls for each row
        when (new.awaiting is not null) execute function stop_here()`)
    const holder = await database.pool.connect()
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock(1)')
    await core.work()
    const id = randomUUID()
    await sendFake(core, id, 'success')
    const stopped = `select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    await until(async () => (await database.pool.query(stopped)).rows.length === 1, {
      what: 'the worker stands before its commit',
    })
    await newPayment(core, { id })
    await holder.query('commit')
    holder.release()
    await until(async () => (await core.payments.get(id))?.status === 'paid', {
      what: 'the payment is paid',
    })
    assert.deepEqual(sweptIn(lines), [])
  })
})
