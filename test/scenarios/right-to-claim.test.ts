import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { opensAt, pollReply, scriptedGateway, type Script } from '../money/scripted.ts'
import { openBilling, sendJson, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  const script: Script = {}
  /** What this process's listener was told of. */
  const told: string[] = []
  before(async () => {
    billing = await openBilling(engine, {
      billing: { queue: { connection: 'sync' } },
      extraGateways: [scriptedGateway(script)],
      listeners: {
        ours: { on: 'PaymentSucceeded', run: ({ payment }) => void told.push(payment.id) },
      },
    })
  })
  afterEach(() => newcomerLeaves())
  after(() => billing.close())

  /** Another process registers a listener that this one lacks. */
  const newcomerComes = async () => {
    await sql`insert into billing.listeners (name, event_types, queued)
      values ('newcomer', '{PaymentSucceeded}', false)`.execute(billing.database.db)
  }
  /** From here on this process has all listeners again. */
  const newcomerLeaves = async () => {
    await sql`delete from billing.listeners where name = 'newcomer'`.execute(billing.database.db)
  }
  const order = (gateway: string) => ({
    gateway,
    amount: 10_000,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
  })

  test('operations look first: where a listener is missing no provider is asked', async () => {
    const { core } = billing
    script.open = opensAt('https://pay.test')
    const [payment, pending] = [
      await core.payments.create(order('scripted')),
      await core.payments.create(order('scripted')),
    ]
    const { id, amount } = payment
    script.poll = async () =>
      pollReply([{ type: 'payment', payment: { id }, status: 'paid', amount, currency: 'USD' }])
    await core.payments.poll(id)
    const asked: string[] = []
    const refuse = (what: string) => () => {
      asked.push(what)
      throw new Error(what)
    }
    Object.assign(script, {
      poll: refuse('poll'),
      refund: refuse('refund'),
      closeCheckout: refuse('closeCheckout'),
    })
    await newcomerComes()
    for (const work of [
      () => core.payments.poll(pending.id),
      () => core.payments.cancel(pending.id),
      () => core.refunds.create(id),
      () => core.reconcile(),
      () => core.payments.create({ ...order('scripted'), paymentMethodId: newUuid() }),
    ]) {
      await assert.rejects(work, { code: 'listener_missing' })
    }
    assert.deepEqual(asked, [])
    assert.deepEqual((await core.payments.get(id))?.refunds, [])
  })

  test('sync: a callback is answered 503 while a listener is missing, and applied in the end', async () => {
    const { core } = billing
    const { id } = await core.payments.create(order('fake'))
    const send = () => sendJson(core, 'fake', { payment_id: id, result: 'success' })
    const ofIt = () => told.filter((one) => one === id)
    await newcomerComes()
    const answer = await send()
    assert.equal(answer.status, 503)
    assert.ok(answer.headers['retry-after'])
    const before = await core.payments.get(id)
    assert.deepEqual([before?.status, before?.events, ofIt()], ['pending', [], []])
    const [call] = (await core.calls.list({ state: 'pending' })).data
    assert.equal(call?.attempts, 0)
    await newcomerLeaves()
    assert.equal((await send()).status, 200)
    const worker = await core.work()
    await until(async () => (await core.calls.list({ state: 'pending' })).data.length === 0, {
      what: 'the first one is processed, too',
    })
    await worker.stop()
    assert.deepEqual(ofIt(), [id])
  })
})
