import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createRegistry } from '../../src/gateways/registry.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { hours } from '../../src/kernel/duration.ts'
import { isQuittanceError, QuittanceError, type ErrorCode } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { interpretCall } from '../../src/processing/interpret-call.ts'
import { readCallBacklog } from '../../src/upkeep/diagnosis.ts'
import { forEachDatabase } from '../support/databases.ts'
import { until } from '../support/billing.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { statedCall, stating, type Statement } from '../support/stating-gateway.ts'

/** A call that only its provider can explain waits for an outage to end. */
forEachDatabase((engine) => {
  let failsWith: ErrorCode | undefined
  /** Only what a renewal renews is for the API to say. */
  let needsFirst = false
  let asked = 0
  const asking: Gateway = {
    ...stating,
    name: 'asking',
    retryWindow: hours(72),
    interpret: async (payload, context) => {
      asked += 1
      const failure = failsWith && new QuittanceError(failsWith, 'the API is away')
      if (failure !== undefined && !needsFirst) throw failure
      const outcomes = await stating.interpret(payload, context)
      return outcomes.map((one) =>
        one.type === 'payment' && failure ? { ...one, unanswered: failure } : one,
      )
    },
  }
  let billing: StatedBilling
  before(async () => {
    billing = await openStated(engine, { extraGateways: [stating, asking] })
  })
  after(() => billing.close())

  /** A call that has been tried once, in vain. */
  const receive = async (statement: Statement) => {
    assert.equal((await billing.core.receive(statedCall([statement], 'asking'))).status, 200)
    const [call] = (await billing.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await until(async () => (await callOf(call.id)).exception !== null, { what: 'it was tried' })
    return call.id
  }
  const callOf = async (id: string) => {
    const call = await billing.core.calls.get(id)
    assert.ok(call)
    return call
  }
  /** Asks once more, as it was received so long ago. */
  const askAfter = async (id: string, age: number) => {
    const before = asked
    await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp(),
        received_at = clock_timestamp() - make_interval(hours => ${age}::int)
      where id = ${id}`.execute(billing.database.db)
    await billing.runtime.announce()
    await until(async () => asked > before && (await callOf(id)).state !== 'processing', {
      what: `it was tried after ${age} h`,
    })
  }
  const pauseOf = async (id: string) => {
    const { rows } = await sql<{ pause: number }>`
      select extract(epoch from next_attempt_at - clock_timestamp())::float8 as pause
      from billing.webhook_calls where id = ${id}`.execute(billing.database.db)
    return rows[0]?.pause ?? 0
  }

  test('while the API is away it uses up no attempt, says why, and waits longer each time', async () => {
    failsWith = 'provider_unreachable'
    const payment = await billing.create({ gateway: 'asking' })
    const id = await receive(paid(payment))
    const first = await pauseOf(id)
    assert.ok(first > 0 && first <= 10, `${first} s`)
    for (const age of [1, 2, 30, 71]) await askAfter(id, age)
    const { state, attempts, exception } = await callOf(id)
    assert.deepEqual([state, attempts], ['pending', 0])
    assert.match(exception ?? '', /the API is away/)
    const later = await pauseOf(id)
    assert.ok(later > 500 && later <= 600, `${later} s`)
    assert.equal((await readCallBacklog(billing.database)).retried, 1)
    failsWith = undefined
    await askAfter(id, 71)
    assert.equal((await callOf(id)).state, 'processed')
    assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
    assert.equal((await readCallBacklog(billing.database)).retried, 0)
  })

  test('a renewal whose first payment only the API knows waits likewise', async () => {
    failsWith = 'provider_unreachable'
    needsFirst = true
    const first = await billing.create({ gateway: 'asking' })
    const money = { amount: first.amount, currency: first.currency }
    const id = await receive({
      type: 'payment',
      status: 'paid',
      payment: { providerReference: 'ch_2' },
      renews: 'subscription',
      subscriptionReference: 'sub_unknown',
      ...money,
    })
    for (const age of [1, 30]) await askAfter(id, age)
    const { state, attempts, exception } = await callOf(id)
    assert.deepEqual([state, attempts], ['pending', 0])
    assert.match(exception ?? '', /the API is away/)
    needsFirst = false
    failsWith = undefined
    await askAfter(id, 30)
  })

  test('longer than the provider repeats callbacks it does not wait: it has its attempts', async () => {
    failsWith = 'provider_unreachable'
    const id = await receive(paid(await billing.create({ gateway: 'asking' })))
    for (const attempts of [1, 2, 3]) {
      await askAfter(id, 73)
      assert.equal((await callOf(id)).attempts, attempts)
    }
    assert.equal((await callOf(id)).state, 'failed')
  })

  test('a refusal of the API is a failed attempt at once', async () => {
    failsWith = 'provider_refused'
    const id = await receive(paid(await billing.create({ gateway: 'asking' })))
    assert.equal((await callOf(id)).attempts, 1)
  })
})

test('a provider that keeps an interpretation waiting cannot be reached', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const begun = performance.now()
  const hanging: Gateway = { ...stating, interpret: () => new Promise(() => {}) }
  const call = {
    id: '0198f0aa-0000-7000-8000-000000000001',
    token: '0198f0aa-0000-7000-8000-000000000002',
    gateway: stating.name,
    queue: 'billing-webhooks',
    kind: 'json',
    payload: '[]',
    body: null,
    body_encrypted: false,
    attempts: 0,
    leases_lost: 0,
    times_returned: 0,
  } as const
  const interpreting = interpretCall(call, {
    gateways: createRegistry([hanging], {}),
    log: silentLog,
    cipher: undefined,
  })
  t.mock.method(performance, 'now', () => begun + 20_100)
  t.mock.timers.tick(20_000)
  await assert.rejects(
    interpreting,
    (error) => isQuittanceError(error) && error.code === 'provider_unreachable',
  )
})
