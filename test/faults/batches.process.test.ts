import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createNumbers } from '../../src/numbers/slots.ts'
import { assemble } from '../../src/billing/assemble.ts'
import { coreOf, createCore } from '../../src/billing/create-core.ts'
import { createRuntime, type Runtime } from '../../src/billing/runtime.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { interpretCall } from '../../src/processing/interpret-call.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { processInterpreted } from '../../src/processing/process-calls.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { extendLeases } from '../../src/leases/leases.ts'
import { releaseRows, takeRows } from '../../src/leases/queue-rows.ts'
import {
  newPayment,
  openBilling,
  sendFake,
  unhurried,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { startCutProxy, type CutProxy, type Fault } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import { deploy, finished, type Deployment } from '../support/deployment.ts'
import { startWorker } from '../support/process.ts'

/** Two rows of few, in any order; and a stop on the way for the payment that is named so. */
const config = `
import { setTimeout as pause } from 'node:timers/promises'
async function teller({ type, payment }, { tx }) {
  await tx.query('insert into told (type, payment_id) values ($1, $2)', [type, payment.id])
  for (let row = 0; row < 2; row += 1) {
    const id = Math.floor(Math.random() * 4)
    await tx.query('update accounts set balance = balance + 1 where id = $1', [id])
  }
  if (payment.payable.id === 'stop') await tx.query('select pg_advisory_xact_lock(7)')
}
export default { listeners: { teller: { on: ['PaymentSucceeded', 'PaymentFailed'], run: teller } } }
`

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

async function storeAll(
  core: BillingCore,
  callbacks: readonly (readonly [id: string, result: 'success' | 'failure'])[],
) {
  for (let from = 0; from < callbacks.length; from += 200) {
    const slice = callbacks.slice(from, from + 200)
    const answers = await Promise.all(slice.map(([id, result]) => sendFake(core, id, result)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  }
}

async function isNumbered({ pool }: Database): Promise<boolean> {
  const { rows } = await pool.query('select from billing.events where position is null')
  return rows.length === 0
}

const makePayments = (core: BillingCore, count: number) =>
  Promise.all(Array.from({ length: count }, () => newPayment(core)))

onPostgres((engine) => {
  let deployment: Deployment
  let database: Database
  let core: BillingCore

  before(async () => {
    deployment = await deploy(engine)
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), config)
    database = await deployment.connect()
    await database.pool.query(`
      create table told (place bigint generated always as identity, type text, payment_id uuid,
        unique (type, payment_id));
      create table accounts (id int primary key, balance int not null default 0);
      insert into accounts select generate_series(0, 3)`)
    core = createCore({ database: { url: deployment.env['DATABASE_URL'] ?? '' } }, unhurried)
  })
  after(async () => {
    await core.close()
    await database.close()
    await deployment.remove()
  })

  /**
   * One told listener and two bookings for each event; no attempt used, no failure. A decline whose
   * dispatch lost a deadlock may be overtaken by its payment: that one is dispatched to nobody.
   */
  async function checkBooks(): Promise<void> {
    const { rows } = await database.pool.query(`
      select (select count(*) from billing.events where not superseded)::int as events,
        (select count(*) from told)::int as told,
        (select sum(balance) from accounts)::int / 2 as booked,
        (select count(*) from billing.events
          join told using (type, payment_id))::int as matching,
        (select max(attempts) from billing.webhook_calls) as attempts,
        (select count(*) from billing.payments p where (status = 'paid') <> exists (
          select from billing.events e where e.payment_id = p.id
            and e.type = 'PaymentSucceeded'))::int as unpaid`)
    const { events, ...counts } = rows[0]
    assert.deepEqual(counts, {
      told: events,
      booked: events,
      matching: events,
      attempts: 0,
      unpaid: 0,
    })
    const { rows: late } = await database.pool.query(`
      select from told s join told f using (payment_id)
      where s.type = 'PaymentSucceeded' and f.type = 'PaymentFailed' and f.place > s.place`)
    assert.deepEqual(late, [], 'no decline after the payment')
  }

  test('declines, payments and 1,000 duplicates over two processes whose listeners lock the same rows in any order', async () => {
    const payments = await makePayments(core, 80)
    const hot = payments[0] ?? assert.fail()
    const callbacks = payments.flatMap(
      ({ id }) =>
        [
          [id, 'failure'],
          [id, 'success'],
          [id, 'success'],
          [id, 'failure'],
        ] as const,
    )
    const duplicates = Array.from({ length: 1_000 }, () => [hot.id, 'success'] as const)
    await storeAll(core, shuffled([...callbacks, ...duplicates]))
    const workers = await Promise.all([startWorker(deployment), startWorker(deployment)])
    await finished(database, 120_000)
    for (const worker of workers) assert.equal((await worker.stop()).code, 0)
    await checkBooks()
    const { rows } = await database.pool.query(
      `select count(*)::int as paid from told where type = 'PaymentSucceeded'`,
    )
    assert.deepEqual(rows, [{ paid: 80 }])
  })

  test('kill -9 in the middle of a batch: no listener’s row of it is kept, the heir does it all', async () => {
    const payments = await makePayments(core, 40)
    const stop = await newPayment(core, { payable: { type: 'order', id: 'stop' } })
    const ids = [...payments.slice(0, 20), stop, ...payments.slice(20)].map(({ id }) => id)
    await storeAll(
      core,
      ids.map((id) => [id, 'success'] as const),
    )
    const holder = await database.pool.connect()
    await holder.query('select pg_advisory_lock(7)')
    const doomed = await startWorker(deployment)
    const standing = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    await until(async () => (await holder.query(standing)).rows.length === 1, {
      what: 'a listener stands in the middle of its batch',
    })
    await doomed.kill()
    await holder.query('select pg_advisory_unlock(7)')
    holder.release()
    await database.pool.query(`
      update billing.webhook_calls set lease_until = now() - interval '1 s'
      where state = 'processing'`)
    const heir = await startWorker(deployment)
    await finished(database)
    assert.equal((await heir.stop()).code, 0)
    await checkBooks()
    const { rows } = await database.pool.query(
      'select count(*)::int as told from told where payment_id = any($1)',
      [ids],
    )
    assert.deepEqual(rows, [{ told: 41 }])
  })

  test('leases are extended past a call that is being ended, without waiting for it', async () => {
    const payments = await makePayments(core, 2)
    await storeAll(
      core,
      payments.map(({ id }) => [id, 'success'] as const),
    )
    const leases = await takeRows(database.db, webhookCalls, {
      limit: 2,
      token: newUuid(),
      alone: false,
      listeners: ['teller/PaymentSucceeded', 'teller/PaymentFailed'],
    })
    await database.pool.query(`update billing.webhook_calls set lease_until = now() - interval '1 s'
      where state = 'processing'`)
    const ending = await database.pool.connect()
    await ending.query('begin')
    await ending.query('select from billing.webhook_calls where id = $1 for update', [
      leases[0]?.id,
    ])
    await extendLeases(database.db, webhookCalls, leases)
    const { rows } = await ending.query(
      'select id from billing.webhook_calls where lease_until > now()',
    )
    await ending.query('rollback')
    ending.release()
    assert.deepEqual(rows, [{ id: leases[1]?.id }])
    await releaseRows(database.db, webhookCalls, leases)
  })

  test('a client that holds a payment’s row holds up no other call, and costs no attempt', async () => {
    const payments = await makePayments(core, 30)
    const held = payments[10] ?? assert.fail()
    await storeAll(
      core,
      payments.map(({ id }) => [id, 'success'] as const),
    )
    const holder = await database.pool.connect()
    await holder.query('begin')
    // However slow the machine is: usually the server would end it after 30 s.
    await holder.query('set local idle_in_transaction_session_timeout = 0')
    await holder.query('select from billing.payments where id = $1 for update', [held.id])
    const worker = await startWorker(deployment)
    const told = 'select count(*)::int as told from told where payment_id = any($1)'
    const ids = payments.map(({ id }) => id)
    await until(async () => (await database.pool.query(told, [ids])).rows[0].told === 29, {
      what: 'all others are processed',
    })
    await holder.query('rollback')
    holder.release()
    await finished(database)
    assert.equal((await worker.stop()).code, 0)
    await checkBooks()
  })
})

/** Statements of a batch, in their order. */
const statements = {
  'locks the payments': /from billing\.payments where [^]* for no key update/,
  'moves the payments': /update billing.payments as payment/,
  'takes a claim': /insert into billing.events/,
  'writes as a listener': /insert into told/,
  'sets a savepoint': /release savepoint/,
  'ends the calls': /update "billing"\."webhook_calls" as row\s+set lease_token = null/,
  commits: /^commit$/,
}

onPostgres((engine) => {
  let runtime: Runtime
  let core: BillingCore
  let proxy: CutProxy
  let direct: TestBilling

  before(async () => {
    direct = await openBilling(engine)
    await sql`create table told (payment_id uuid)`.execute(direct.database.db)
    proxy = await startCutProxy(direct.url ?? '')
    runtime = createRuntime({ database: { url: proxy.url } }, unhurried)
    core = coreOf(runtime)
    const teller = async ({ payment }: { payment: { id: string } }, { tx }: ListenerContext) => {
      await tx.query('insert into told values ($1)', [payment.id])
    }
    core.on('PaymentSucceeded', 'teller', teller)
    core.on('PaymentSucceeded', 'mailing', () => {}, { queued: true })
  })
  after(async () => {
    await core.close()
    await proxy.close()
    await direct.close()
  })

  for (const [what, statement] of Object.entries(statements)) {
    for (const fault of ['cut_before', 'cut_answer'] as const satisfies Fault[]) {
      test(`a batch whose connection is lost when it ${what} (${fault}): each event once`, async () => {
        const payments = await makePayments(core, 6)
        await storeAll(
          core,
          payments.map(({ id }) => [id, 'success'] as const),
        )
        const { settings, listeners } = runtime
        const open = await runtime.opened()
        const { processing } = await assemble(open, {
          settings,
          listeners,
          numbers: createNumbers(),
          wake: () => {},
        })
        const taken = await takeRows(direct.database.db, webhookCalls, {
          limit: 100,
          token: newUuid(),
          alone: false,
          listeners: listeners.keys(),
        })
        const batch = await Promise.all(
          taken.map(async (call) => ({ call, outcomes: await interpretCall(call, processing) })),
        )
        // What the test before has written is numbered on its own: that is not to be cut.
        await until(() => isNumbered(direct.database), { what: 'all events have their places' })
        const cut = proxy.next(statement, fault)
        const ends = await processInterpreted(batch, processing)
        await cut.struck
        assert.deepEqual(new Set(ends), new Set(['left']), 'nobody is blamed')
        for (const one of batch) await processInterpreted([one], processing)
        const { rows } = await direct.database.pool.query(
          `select p.status, c.state, c.attempts, c.times_returned,
            (select count(*)::int from told t where t.payment_id = p.id) as told,
            (select count(*)::int from billing.events e where e.payment_id = p.id) as events,
            (select count(*)::int from billing.deliveries d join billing.events e
              on e.id = d.event_id where e.payment_id = p.id) as deliveries
          from billing.payments p
          join billing.webhook_calls c on c.payload->>'payment_id' = p.id::text
          where p.id = any($1)`,
          [payments.map(({ id }) => id)],
        )
        const settledOnce = {
          status: 'paid',
          state: 'processed',
          attempts: 0,
          times_returned: 0,
          told: 1,
          events: 1,
          deliveries: 1,
        }
        assert.equal(rows.length, 6)
        assert.deepEqual(
          rows,
          rows.map(() => settledOnce),
        )
      })
    }
  }
})

onPostgres((engine) => {
  test('callbacks about a payment whose listener hangs leave the lanes to all others', async () => {
    await using billing = await openBilling(engine, { listenerBudgetMs: 20_000 })
    const { core } = billing
    const hanging = await newPayment(core)
    const listener = ({ payment }: { payment: { id: string } }) =>
      payment.id === hanging.id ? new Promise<void>(() => {}) : undefined
    core.on('PaymentSucceeded', 'hanging', listener)
    const payments = await makePayments(core, 30)
    const flood = Array.from({ length: 60 }, () => [hanging.id, 'success'] as const)
    await storeAll(core, flood)
    await storeAll(
      core,
      payments.map(({ id }) => [id, 'success'] as const),
    )
    await core.work()
    const paid = async () => (await core.events.list({ limit: 100 })).data.length
    // One after the other, the 60 about the hanging payment would take 20 s each.
    await until(async () => (await paid()) === 30, { what: 'all others are paid' })
  })
})
