import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Payment } from '../../src/payments/payment.ts'
import { newPayment, openBilling, idle, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres, postgres } from '../support/databases.ts'
import { apiToken, deploy, finished, makeTable, whileBusy } from '../support/deployment.ts'
import { startService, startWorker } from '../support/process.ts'
import { paid, refund, refundedTotal } from '../support/statements.ts'
import { statedCall, stating, type Statement } from '../support/stating-gateway.ts'

const gatewayFile = new URL('../support/stating-gateway.ts', import.meta.url).href

const config = `
import { stating } from ${JSON.stringify(gatewayFile)}
async function teller(event, { tx }) {
  await tx.query('insert into told (type, payment_id) values ($1, $2)', [event.type, event.payment.id])
}
export default {
  extraGateways: [stating],
  listeners: {
    teller: { on: ['PaymentSucceeded', 'PaymentFailed', 'PaymentRefunded'], run: teller },
  },
}
`

onPostgres((engine) => {
  test('200 identical refund callbacks in parallel, 4 worker processes: one refund, one event', async () => {
    const deployment = await deploy(engine)
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), config)
    const database = await deployment.connect()
    await makeTable(database)
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(deployment)))
    const post = (path: string, headers: Record<string, string>, body: string) =>
      whileBusy(async () => {
        const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body })
        await answer.arrayBuffer()
        return answer.status
      })
    const id = randomUUID()
    const created = await post(
      '/billing/api/payments',
      { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      JSON.stringify({
        id,
        gateway: 'stating',
        amount: 10_000,
        currency: 'USD',
        payable: { type: 'order', id },
      }),
    )
    assert.equal(created, 201)
    const { target, headers, body } = statedCall([refund({ id, currency: 'USD' }, 're_200')])
    const statuses = await Promise.all(
      Array.from({ length: 200 }, () => post(target, headers, Buffer.from(body).toString())),
    )
    assert.deepEqual([...new Set(statuses)], [200])
    await finished(database)
    const { rows } = await sql<Record<string, unknown>>`
      select
        -- One that was answered 503 may be stored, and comes again.
        (select count(*) >= 200 and bool_and(state = 'processed')
          from billing.webhook_calls) as calls,
        (select count(*) from billing.payments where parent_id = ${id}::uuid) as refunds,
        (select count(*) from billing.payment_transitions) as transitions,
        (select count(*) from billing.events) as events,
        (select count(*) from told) as told`.execute(database.db)
    assert.deepEqual(rows, [{ calls: true, refunds: 1n, transitions: 1n, events: 1n, told: 1n }])
    for (const ended of await Promise.all([service, ...workers].map((one) => one.stop()))) {
      assert.equal(ended.code, 0)
    }
    await database.close()
    await deployment.remove()
  })
})

onAnyDatabase((engine) => {
  // Statements of the embedded database take turns: fewer races show as much.
  const rounds = engine === postgres ? 15 : 4
  const races = rounds * 20
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, { extraGateways: [stating], listenerBudgetMs: 20_000 })
    const { core, database } = billing
    await sql`create table told (type text, payment_id uuid)`.execute(database.db)
    core.on(['PaymentSucceeded', 'PaymentRefunded'], 'teller', async (event, { tx }) => {
      const values = [event.type, event.payment.id]
      await tx.query('insert into told (type, payment_id) values ($1, $2)', values)
    })
    core.on('PaymentDisputed', 'disputeTeller', async ({ payment, dispute }, { tx }) => {
      const values = [`dispute ${dispute.status}`, payment.id]
      await tx.query('insert into told (type, payment_id) values ($1, $2)', values)
    })
    await core.work()
  })
  after(() => billing.close())

  /** Sends as a gateway does: again while the answer is 503, which a busy machine may give. */
  async function send(statement: Statement): Promise<void> {
    for (;;) {
      await pause(Math.random() * 4)
      const { status } = await billing.core.receive(statedCall([statement]))
      if (status === 200) return
      assert.equal(status, 503)
    }
  }

  const dispute = ({ id }: Payment, status: string): Statement => ({
    type: 'dispute',
    payment: { id },
    reference: `dp_${id}`,
    status,
  })

  /** One refund that is returned, one that stays; by names or by running totals. */
  function reportsOf(payment: Payment, named: boolean): readonly Statement[] {
    const back = `re_back_${payment.id}`
    const kept = refund(payment, `re_kept_${payment.id}`, { amount: 700n })
    const refunds = named
      ? [refund(payment, back), refund(payment, back, { status: 'failed' }), kept, kept]
      : [1_000n, 1_700n, 1_000n, 1_700n].map((total) => refundedTotal(payment, total))
    return [
      paid(payment),
      paid(payment),
      { ...paid(payment), status: 'failed' },
      ...refunds,
      dispute(payment, 'open'),
      dispute(payment, 'lost'),
    ]
  }

  async function sendShuffled(named: boolean): Promise<string> {
    const payment = await newPayment(billing.core, { gateway: 'stating', amount: 10_000 })
    const shuffled = reportsOf(payment, named)
      .map((statement) => ({ statement, place: Math.random() }))
      .toSorted((a, b) => a.place - b.place)
    await Promise.all(shuffled.map(({ statement }) => send(statement)))
    return payment.id
  }

  test(`payments, refunds, returned refunds and disputes racing, ${races} interleavings: all consistent`, async () => {
    const { core, database } = billing
    const named: string[] = []
    const totals: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, index) => sendShuffled(index % 2 === 0)),
      )
      for (const [index, id] of ids.entries()) (index % 2 === 0 ? named : totals).push(id)
    }
    await idle(core)

    const { rows: charges } = await sql`
      select p.status, d.status as dispute, count(*)::int as count
      from billing.payments p left join billing.disputes d on d.payment_id = p.id
      where p.type = 'charge' group by 1, 2`.execute(database.db)
    assert.deepEqual(charges, [{ status: 'paid', dispute: 'lost', count: races }])

    const { rows: kept } = await sql`
      select refunds, count(*)::int as count from (
        select parent_id, string_agg(status || ' ' || amount, ', ' order by amount desc) as refunds
        from billing.payments where parent_id = any(${named}::uuid[]) group by 1) as each
      group by 1`.execute(database.db)
    assert.deepEqual(kept, [{ refunds: 'failed 1000, paid 700', count: races / 2 }])

    const { rows: sums } = await sql`
      select total, count(*)::int as count from (
        select parent_id, sum(amount)::int as total from billing.payments
        where parent_id = any(${totals}::uuid[]) and status = 'paid' group by 1) as each
      group by 1`.execute(database.db)
    assert.deepEqual(sums, [{ total: 1_700, count: races / 2 }])

    const { rows: wrong } = await sql`
      select p.id, p.type, p.status, count(distinct e.id) as events, count(distinct t.ctid) as told
      from billing.payments p
      left join billing.events e on e.payment_id = p.id
        and e.type not in ('PaymentFailed', 'PaymentDisputed')
      left join told t on t.payment_id = p.id and t.type not like 'dispute %'
      group by p.id
      having count(distinct e.id) <> count(distinct t.ctid)
        -- A refund that was returned before its event was due has none.
        or count(distinct e.id) > 1 or (p.status = 'paid' and count(distinct e.id) <> 1)`.execute(
      database.db,
    )
    assert.deepEqual(wrong, [], 'each event once, told once')

    const { rows: disputes } = await sql<Record<string, unknown>>`
      select type, count(*)::int as told, count(distinct payment_id)::int as payments
      from told where type like 'dispute %' group by 1 order by 1`.execute(database.db)
    assert.deepEqual(disputes[0], { type: 'dispute lost', told: races, payments: races })
    // What is open is told only where it was heard before the end.
    for (const { told, payments } of disputes) assert.equal(told, payments)

    const { rows: tries } = await sql`
      select max(attempts) as attempts from billing.webhook_calls`.execute(database.db)
    assert.deepEqual(tries, [{ attempts: 0 }])
  })
})
