import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createNumbers } from '../../src/numbers/slots.ts'
import { assemble } from '../../src/billing/assemble.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import type { ProcessingContext } from '../../src/processing/context.ts'
import { createDeliver } from '../../src/processing/deliver.ts'
import { interpretCall } from '../../src/processing/interpret-call.ts'
import { processInterpreted } from '../../src/processing/process-calls.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { deliveries } from '../../src/queue/deliveries.ts'
import type { QueueRow, QueueTable } from '../../src/leases/leased-table.ts'
import { takeRows } from '../../src/leases/queue-rows.ts'
import {
  newPayment,
  openBilling,
  sendFake,
  unhurried,
  type TestBilling,
} from '../support/billing.ts'
import { startCutProxy, type CutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'

/** What a payment's listener does when it runs; those behind a trace are left. */
const kinds = ['writes', 'throws once', 'leaves a trace', 'writes']
/** What commits, alone or a transaction: its answer may be lost, too. */
const commits = /^commit$|"billing"."deliveries"/

/**
 * A batch, its calls that go on alone, one that is tried again, and the deliveries of their events,
 * with the connection lost at each statement in turn.
 */
onPostgres((engine) => {
  let direct: TestBilling
  let proxy: CutProxy
  let core: BillingCore
  let processing: ProcessingContext
  const thrown = new Set<string>()
  const mailed: string[] = []

  before(async () => {
    direct = await openBilling(engine)
    await direct.database.pool.query('create table told (payment_id uuid)')
    proxy = await startCutProxy(direct.url ?? '')
    const runtime = createRuntime({ database: { url: proxy.url } }, unhurried)
    core = coreOf(runtime)
    core.on('PaymentSucceeded', 'teller', tell)
    core.on('PaymentSucceeded', 'mailing', ({ id }) => void mailed.push(id), { queued: true })
    const { settings, listeners } = runtime
    const open = await runtime.opened()
    processing = (
      await assemble(open, { settings, listeners, numbers: createNumbers(), wake: () => {} })
    ).processing
  })
  after(async () => {
    await core.close()
    await proxy.close()
    await direct.close()
  })

  async function tell(
    { payment }: BillingEvent & { type: 'PaymentSucceeded' },
    context: ListenerContext,
  ) {
    const { tx } = context
    const kind = payment.payable.id
    if (kind === 'leaves a trace') await tx.query(`set local work_mem = '8MB'`)
    await tx.query('insert into told values ($1)', [payment.id])
    if (kind !== 'throws once' || thrown.has(payment.id)) return
    thrown.add(payment.id)
    throw new Error('thrown once')
  }

  /** By a connection that is never cut, however long they should wait. */
  async function takeAll<Row extends QueueRow>(table: QueueTable<Row>): Promise<readonly Row[]> {
    const { db, pool } = direct.database
    await pool.query(`update ${table.name} set next_attempt_at = now() where state = 'pending'`)
    const listeners = processing.listeners.keys()
    return takeRows(db, table, { limit: 100, token: newUuid(), alone: false, listeners })
  }

  async function processAll() {
    for (let calls = await takeAll(webhookCalls); calls.length > 0;) {
      const interpreted = calls.map(async (call) => ({
        call,
        outcomes: await interpretCall(call, processing),
      }))
      const batch = await Promise.all(interpreted)
      const ends = await processInterpreted(batch, processing)
      for (const [index, one] of batch.entries()) {
        if (ends[index] === 'left') await processInterpreted([one], processing)
      }
      calls = await takeAll(webhookCalls)
    }
  }

  async function deliverAll() {
    const deliver = createDeliver(processing)
    for (let due = await takeAll(deliveries); due.length > 0;) {
      await Promise.all(due.map(deliver))
      due = await takeAll(deliveries)
    }
  }

  /** Payments whose callbacks are stored: processed, and their events delivered. */
  async function payAll(): Promise<readonly string[]> {
    const payments = await Promise.all(
      kinds.map((id) => newPayment(direct.core, { payable: { type: 'order', id } })),
    )
    const ids = payments.map(({ id }) => id)
    // In this order, on which it depends how many statements they take.
    for (const id of ids) await sendFake(direct.core, id, 'success')
    await processAll()
    await deliverAll()
    return ids
  }

  async function assertOnce(payments: readonly string[], which: string) {
    const { rows } = await direct.database.pool.query<{ kind: string; event: string }>(
      `select p.payable_id as kind, p.status, e.id as event, d.state as delivery,
        (select count(*)::int from told where payment_id = p.id) as told,
        (select state from billing.webhook_calls where payload->>'payment_id' = p.id::text) as call,
        (select attempts from billing.webhook_calls where payload->>'payment_id' = p.id::text
          and p.payable_id <> 'throws once') as attempts
      from billing.payments p
      left join billing.events e on e.payment_id = p.id
      left join billing.deliveries d on d.event_id = e.id
      where p.id = any($1)`,
      [payments],
    )
    const once = { status: 'paid', delivery: 'processed', told: 1, call: 'processed' }
    assert.deepEqual(
      rows.map((row) => ({ ...row, mails: mailed.filter((id) => id === row.event).length })),
      rows.map(({ kind, event }) => ({
        ...once,
        kind,
        event,
        attempts: kind === 'throws once' ? null : 0,
        mails: 1,
      })),
      which,
    )
    assert.equal(rows.length, payments.length, which)
  }

  /** The text of the statement at which the connection is lost, if there are so many. */
  async function payAllBut(number: number, fault: 'cut_before' | 'cut_answer') {
    const cut = proxy.next(number, fault)
    const first = proxy.statements.length
    const payments = await payAll()
    cut.release()
    const text = proxy.statements[first + number - 1]
    await assertOnce(payments, `${fault}, ${number}: ${text}`)
    return text
  }

  test('whichever statement of a batch and its deliveries the connection is lost at, each outcome is there once', async () => {
    let number = 1
    for (let text; (text = await payAllBut(number, 'cut_before')) !== undefined; number += 1) {
      if (commits.test(text)) await payAllBut(number, 'cut_answer')
    }
    assert.ok(number > 40, `${number} statements`)
  })
})
