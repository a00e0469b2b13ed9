import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { coreOf } from '../../src/billing/create-core.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { newPayment, openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'
import { embedded, onPostgres } from '../support/databases.ts'

let billing: TestBilling
afterEach(() => billing.close())

const callOf = async (payment: Payment) => {
  const { rows } = await billing.database.pool.query<{
    state: string
    attempts: number
    times_returned: number
    exception: string | null
  }>(`select * from billing.webhook_calls where payload->>'payment_id' = $1`, [payment.id])
  assert.ok(rows[0])
  return rows[0]
}
const statusOf = async (payment: Payment) => (await billing.core.payments.get(payment.id))?.status

const thrown: Record<string, unknown> = {
  'an object without a prototype': Object.create(null),
  'an error whose stack is no text': Object.assign(new Error('x'), { stack: [] }),
  'a network error of its own': Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), {
    code: 'ECONNREFUSED',
  }),
  'a missing file': Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }),
  null: null,
  undefined: undefined,
}
for (const [what, error] of Object.entries(thrown)) {
  test(`a listener that throws ${what}: the payment is paid and an attempt is used`, async () => {
    billing = await openBilling(embedded)
    billing.core.on('PaymentSucceeded', 'thrower', () => Promise.reject(error))
    await billing.core.work()
    const payment = await newPayment(billing.core)
    await sendFake(billing.core, payment.id, 'success')
    const counted = async () => {
      const { attempts, times_returned } = await callOf(payment)
      return attempts + times_returned > 0
    }
    await until(counted, { what: 'the failure is recorded' })
    // Nothing follows before the next attempt, after 10 s.
    await pause(1_500)
    const { state, attempts, times_returned } = await callOf(payment)
    assert.deepEqual(
      { status: await statusOf(payment), state, attempts, times_returned },
      { status: 'paid', state: 'pending', attempts: 1, times_returned: 0 },
    )
  })
}

test('work after the commit that hangs does not stop the worker', async () => {
  billing = await openBilling(embedded)
  billing.core.on('PaymentSucceeded', 'hangs', (_event, { afterCommit }) =>
    afterCommit(() => pause(30_000, undefined, { ref: false })),
  )
  await billing.core.work()
  const payments = [await newPayment(billing.core), await newPayment(billing.core)]
  const [first, second] = payments
  assert.ok(first && second)
  const paid = (payment: Payment) => async () => (await statusOf(payment)) === 'paid'
  await sendFake(billing.core, first.id, 'success')
  await until(paid(first), { what: 'the first call is committed, and its work begins' })
  await pause(5_500)
  await sendFake(billing.core, second.id, 'success')
  // Before that work is given up, 20 s after its beginning.
  await until(paid(second), { what: 'the second payment is paid', limitMs: 12_000 })
})

test('close() while work() is under way leaves nothing running', async () => {
  billing = await openBilling(embedded)
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const working = billing.core.work()
  await new Promise(setImmediate)
  await billing.core.close()
  const worker = await working.catch(() => undefined)
  await pause(500)
  const after = timers()
  await worker?.stop()
  assert.ok(after <= before, `${before} timers before, ${after} after`)
})

onPostgres((engine) => {
  test('a process whose listener of the same name hears fewer events claims none of the others', async () => {
    billing = await openBilling(engine)
    const heard: string[] = []
    const teller = () => void heard.push('new')
    const newer = coreOf(createRuntime({ database: { url: billing.url ?? '' } }))
    newer.on(['PaymentSucceeded', 'PaymentFailed'], 'teller', teller)
    const older = billing.core
    older.on('PaymentSucceeded', 'teller', teller)
    await older.work()
    const worker = await newer.work()
    await worker.stop()
    const payment = await newPayment(older)
    await sendFake(older, payment.id, 'failure')
    await pause(1_500)
    const { data: events } = await older.events.list({ paymentId: payment.id })
    await newer.close()
    assert.equal(heard.length, events.length, 'an event was claimed and the listener not told')
  })
})
