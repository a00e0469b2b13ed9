import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import {
  allCalls,
  newPayment,
  openBilling,
  sendFake,
  idle,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { muchPatience } from '../support/patience.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  const told: string[] = []
  let listener = (paymentId: string): void | Promise<void> => void told.push(paymentId)

  before(async () => {
    billing = await openBilling(engine, {
      billing: { queue: { connection: 'sync' } },
      listeners: {
        recorder: {
          on: 'PaymentSucceeded',
          queued: false,
          run: (event) => listener(event.payment.id),
        },
      },
    })
  })
  after(() => billing.close())

  const recording = () => {
    listener = (paymentId) => void told.push(paymentId)
  }
  /** Works as `serve` does, not waiting for the time of a next attempt. */
  const workUntilProcessed = async (paymentId: string, calls: number) => {
    const worker = await billing.core.work({ upkeepOnly: true })
    const processed = async () => {
      await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
        where state = 'pending'`.execute(billing.database.db)
      return (await callsOf(paymentId)).filter(({ state }) => state === 'processed').length
    }
    await until(async () => (await processed()) === calls, { what: `${calls} calls` })
    await worker.stop()
  }
  const callsOf = async (paymentId: string) =>
    (await billing.core.calls.list({ paymentId })).data.toReversed()

  test('sync: the call is processed when the answer comes', async () => {
    const { core } = billing
    recording()
    const payment = await newPayment(core)
    const answer = await sendFake(core, payment.id, 'success')
    assert.equal(answer.status, 200)
    assert.equal(answer.body, '{"message":"ok"}')
    assert.equal((await core.payments.get(payment.id))?.status, 'paid')
    assert.deepEqual(told.splice(0), [payment.id])
    const [call] = await callsOf(payment.id)
    assert.equal(call?.state, 'processed')
    assert.equal(call?.attempts, 0)
    assert.deepEqual(call?.dedupClaims, [`payment:paid:${payment.id}`])
  })

  test('sync: what is ignored is answered 200 too', async () => {
    const answer = await sendFake(billing.core, newUuid(), 'success')
    assert.equal(answer.status, 200)
    assert.equal((await allCalls(billing.core)).at(-1)?.state, 'ignored')
  })

  test("sync: a throwing listener -> 500, an attempt; the gateway's repetition settles", async () => {
    const { core } = billing
    const payment = await newPayment(core)
    listener = () => {
      throw new Error('the shop is closed')
    }
    const begun = Date.now()
    const refused = await sendFake(core, payment.id, 'success')
    const ended = Date.now()
    assert.equal(refused.status, 500)
    assert.equal(refused.body, '{"message":"processing failed"}')
    const failed = (await allCalls(core)).at(-1)
    assert.equal(failed?.state, 'pending')
    assert.equal(failed?.attempts, 1)
    const failedAt = (failed?.nextAttemptAt.getTime() ?? 0) - 10_000
    assert.ok(failedAt >= begun - 1 && failedAt <= ended + 1, `${failedAt}: ${begun} to ${ended}`)
    assert.match(failed?.exception ?? '', /listener recorder.*the shop is closed/s)
    assert.deepEqual(failed?.dedupClaims, [])
    assert.equal((await core.payments.get(payment.id))?.status, 'paid')
    assert.deepEqual(told, [])

    recording()
    assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
    assert.deepEqual(told.splice(0), [payment.id])
    assert.deepEqual(
      (await allCalls(core)).slice(-2).map((call) => [call.state, call.dedupClaims.length]),
      [
        ['pending', 0],
        ['processed', 1],
      ],
    )
    assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
    assert.deepEqual(told, [])

    await workUntilProcessed(payment.id, 3)
    assert.deepEqual(told, [], 'the second attempt of the first finds it told')
  })

  test('sync: what failed in the request has two more attempts, by whoever works', async () => {
    const { core } = billing
    const payment = await newPayment(core)
    let tries = 0
    listener = (paymentId) => {
      tries += 1
      if (tries < 3) throw new Error('the shop is closed')
      told.push(paymentId)
    }
    assert.equal((await sendFake(core, payment.id, 'success')).status, 500)
    await workUntilProcessed(payment.id, 1)
    assert.deepEqual([told.splice(0), tries], [[payment.id], 3])
  })

  test('sync: identical callbacks at once are one event', async () => {
    const { core } = billing
    recording()
    const payment = await newPayment(core)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => sendFake(core, payment.id, 'success')),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.deepEqual(told.splice(0), [payment.id])
  })

  test('sync: a call whose process was killed is processed later', async () => {
    const { core, database } = billing
    recording()
    const payment = await newPayment(core)
    const body = JSON.stringify({ payment_id: payment.id, result: 'success' })
    await database.pool.query(
      `insert into billing.webhook_calls
         (id, gateway, queue, url, headers, kind, payload, state, lease_token, lease_until)
       values ($1, 'fake', 'default', 'http://localhost', '{}', 'json', $2, 'processing', $3,
         clock_timestamp() - interval '1 second')`,
      [newUuid(), body, newUuid()],
    )
    const worker = await core.work({ upkeepOnly: true })
    await until(async () => (await callsOf(payment.id))[0]?.state === 'processed', {
      what: 'the call is processed',
    })
    await worker.stop()
    assert.equal((await core.payments.get(payment.id))?.status, 'paid')
    assert.deepEqual(told.splice(0), [payment.id])
    const [call] = await callsOf(payment.id)
    assert.equal(call?.leasesLost, 1)
  })
})

onPostgres((engine) => {
  test('sync: a call that is kept from its payment for long -> 503, and is applied later', async () => {
    const patience = { ...muchPatience, lock: 100 }
    const sync = { billing: { queue: { connection: 'sync' } } } as const
    await using billing = await openBilling(engine, sync, { patience })
    const { core, database } = billing
    const payment = await newPayment(core)
    const answer = await database.transaction(async ({ db }) => {
      await sql`select from billing.payments where id = ${payment.id} for update`.execute(db)
      return sendFake(core, payment.id, 'success')
    })
    assert.equal(answer.status, 503)
    assert.ok(answer.headers['retry-after'])
    const [call] = await allCalls(core)
    assert.deepEqual([call?.state, call?.attempts], ['pending', 0])
    const worker = await core.work()
    await idle(core)
    await worker.stop()
    const { status, events } = (await core.payments.get(payment.id)) ?? {}
    assert.deepEqual([status, events?.length], ['paid', 1])
  })
})
