import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { everyOrder, openTestBilling, type TestBilling } from '../../src/testing/index.ts'
import { emptyDatabase, type EmptiedDatabase } from '../../src/testing/open-test-billing.ts'
import { openBilling, openRecorded } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { embedded, onAnyDatabase, onPostgres } from '../support/databases.ts'
import { signing, withOthers } from './signed-gateway.ts'

/** For a machine with much else to do. */
const atLeisure = { withinMs: 60_000 }

describe('a test billing', () => {
  let billing: TestBilling
  /** Payments at which the listener throws, and how often it was called for them. */
  const broken = new Set<string>()
  const tries = new Map<string, number>()
  before(async () => {
    billing = await openTestBilling({
      ...withOthers,
      listeners: {
        grantAccess: {
          on: ['PaymentSucceeded', 'PaymentCanceled'],
          run: ({ payment }) => {
            tries.set(payment.id, (tries.get(payment.id) ?? 0) + 1)
            if (broken.has(payment.id)) throw new Error('no access today')
          },
        },
        mail: { on: 'PaymentCanceled', queued: true, run: () => {} },
      },
    })
  })
  after(() => billing.close())
  const typesOf = (payment: { readonly id: string }) =>
    billing.events.about(payment).map(({ type }) => type)
  const statusOf = async ({ id }: { readonly id: string }) =>
    (await billing.billing.payments.get(id))?.status

  for (const { name, signer } of signing) {
    test(`takes every callback that ${name} can sign, without any set-up`, async () => {
      const scenarios = Object.keys(signer?.scenarios ?? {})
      const settling = scenarios.filter((scenario) =>
        /^(?:success|failure|paid|declined|expired|canceled)$/.test(scenario),
      )
      assert.ok(settling.length >= 2)
      for (const scenario of settling) {
        const payment = await billing.createPayment({ gateway: name })
        const answer = await billing.send(payment, scenario)
        assert.equal(answer.status, 200, scenario)
        await billing.idle(atLeisure)
        assert.equal(typesOf(payment).length, 1, scenario)
        assert.notEqual(await statusOf(payment), 'pending', scenario)
      }
      for (const scenario of scenarios) {
        const payment = await billing.createPayment({ gateway: name })
        assert.equal((await billing.send(payment, scenario)).status, 200, scenario)
      }
      // What needs a provider's API has none to ask, and fails for good.
      await billing.idle({ retries: 'now', ...atLeisure })
    })
  }

  test('a duplicate, one after the other or all at the same time, is dispatched once', async () => {
    const payment = await billing.createPayment({ gateway: 'stripe' })
    const request = billing.signedRequest('stripe', { payment })
    assert.equal((await billing.deliver(request)).status, 200)
    assert.equal((await billing.deliver(request)).status, 200)
    const duplicates = Array.from({ length: 30 }, () => request)
    const answers = await billing.deliverAtOnce(duplicates)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    await billing.idle(atLeisure)
    assert.deepEqual(typesOf(payment), ['PaymentSucceeded'])
    const { data } = await billing.billing.calls.list({ paymentId: payment.id, limit: 100 })
    assert.equal(data.length, 32)
    // Not used up: it can still be sent to an app.
    assert.ok((await request.text()).includes(payment.id))
  })

  test('the event of a refund is one of its payment too', async () => {
    const payment = await billing.createPayment({ gateway: 'fake' })
    await billing.send(payment, 'success')
    await billing.idle(atLeisure)
    const { id } = await billing.billing.refunds.create(payment.id, { amount: 1 })
    await billing.events.waitFor('PaymentRefunded', {
      where: (event) => event.payment.id === id,
      ...atLeisure,
    })
    assert.deepEqual(typesOf(payment), ['PaymentSucceeded', 'PaymentRefunded'])
    assert.deepEqual(typesOf({ id }), ['PaymentRefunded'])
  })

  test('a request without a body can be delivered too', async () => {
    const { url } = billing.signedRequest('stripe', { payment: await billing.createPayment() })
    assert.equal((await billing.deliver(new Request(url))).status, 405)
  })

  test('callbacks in every order end in paid', async () => {
    for (const order of everyOrder(['declined', 'paid', 'expired'])) {
      const payment = await billing.createPayment({ gateway: 'stripe' })
      for (const scenario of order) {
        await billing.send(payment, scenario)
        await billing.idle(atLeisure)
      }
      assert.equal(await statusOf(payment), 'paid', order.join())
      assert.equal(typesOf(payment).filter((type) => type === 'PaymentSucceeded').length, 1)
    }
  })

  test('a forged, an old or a false callback is refused or ignored', async () => {
    const payment = await billing.createPayment({ gateway: 'stripe' })
    const old = new Date(Date.now() - 3_600_000)
    const late = billing.signedRequest('stripe', { payment, signedAt: old })
    assert.equal((await billing.deliver(late)).status, 403)
    const stolen = billing.signedRequest('stripe', { payment })
    const forged = new Request(stolen.url, {
      method: 'POST',
      headers: stolen.headers,
      body: (await stolen.text()).replace('4999', '1'),
    })
    assert.equal((await billing.deliver(forged)).status, 403)
    assert.equal((await billing.send({ ...payment, amount: 1n })).status, 200)
    await billing.idle(atLeisure)
    assert.equal(await statusOf(payment), 'pending')
    assert.deepEqual(typesOf(payment), [])
  })

  test('idle({ retries }): a failing listener is left after one attempt, or tried to its end', async () => {
    const payment = await billing.createPayment()
    broken.add(payment.id)
    await billing.send(payment)
    await billing.idle({ retries: 'leave', ...atLeisure })
    assert.equal(tries.get(payment.id), 1)
    assert.equal(await statusOf(payment), 'paid')
    assert.deepEqual(typesOf(payment), [], 'what is rolled back was not told')
    await billing.idle({ retries: 'now', ...atLeisure })
    assert.equal(tries.get(payment.id), 3)
    const { data } = await billing.billing.calls.list({ paymentId: payment.id })
    assert.deepEqual([data[0]?.state, data[0]?.attempts], ['failed', 3])
    broken.delete(payment.id)
    await billing.billing.calls.replay(data[0]?.id ?? '')
    await billing.idle(atLeisure)
    assert.deepEqual(typesOf(payment), ['PaymentSucceeded'])
  })

  test('idle() says at once what waits for longer than it would wait, and why', async () => {
    const payment = await billing.createPayment()
    broken.add(payment.id)
    await billing.send(payment)
    await billing.idle({ retries: 'leave', ...atLeisure })
    const waits =
      /^not idle within 5000 ms: call [-0-9a-f]{36} of fake is pending after 1 attempt, due in \d+ s, the last one failed: .*no access today; idle\(\{ retries: "now" \}\)/
    await assert.rejects(billing.idle({ withinMs: 5_000 }), { message: waits })
    broken.delete(payment.id)
    await billing.idle({ retries: 'now', ...atLeisure })
    assert.deepEqual(typesOf(payment), ['PaymentSucceeded'])
  })

  test('idle() says of a deferred event what it is', async () => {
    const payment = await billing.createPayment()
    broken.add(payment.id)
    await billing.billing.payments.cancel(payment.id)
    await billing.idle({ retries: 'leave', ...atLeisure })
    const waits = /: deferred PaymentCanceled is pending after 1 attempt, .*no access today/
    await assert.rejects(billing.idle({ withinMs: 5_000 }), { message: waits })
    broken.delete(payment.id)
    await billing.idle({ retries: 'now', ...atLeisure })
    assert.deepEqual(typesOf(payment), ['PaymentCanceled'])
  })

  test('waitFor gives what was dispatched before, and what is dispatched later', async () => {
    const payment = await billing.createPayment()
    const where = (event: { readonly payment: { readonly id: string } }) =>
      event.payment.id === payment.id
    const coming = billing.events.waitFor('PaymentSucceeded', { where, ...atLeisure })
    await billing.send(payment)
    const event = await coming
    assert.equal(event.payment.status, 'paid')
    assert.equal(await billing.events.waitFor('PaymentSucceeded', { where, withinMs: 0 }), event)
    assert.ok(billing.events.of('PaymentSucceeded').includes(event))
  })

  test('waitFor fails in time with what was dispatched instead', async () => {
    await assert.rejects(billing.events.waitFor('CheckoutReturned', { withinMs: 30 }), {
      message:
        /^no CheckoutReturned within 30 ms; recorded so far: .*PaymentSucceeded \(payment:paid:/,
    })
  })

  test('a gateway of the app that is incomplete is refused by its name', async () => {
    const extraGateways = [{ name: 'acme' } as Gateway]
    const message = /^gateway "acme": aliases must be a list of names/
    await assert.rejects(openTestBilling({ extraGateways }), { code: 'setting_invalid', message })
  })
})

// The same on a database of its own: each takes less time to make there.
onAnyDatabase((engine) => {
  test('after a reset it is as new, whatever the test before has left', async () => {
    const broken = new Set(['order 42'])
    await using shop = await openRecorded(engine, {
      billing: { encryptionKey: randomBytes(32).toString('base64') },
      plans: { pro: { amount: 900, currency: 'UAH', every: 'month' } },
      listeners: {
        grantAccess: {
          on: 'PaymentSucceeded',
          run: ({ payment }) => {
            if (broken.has(`order ${payment.payable.id}`)) throw new Error('not today')
          },
        },
      },
    })
    const id = '0190a5e2-6b1c-7000-8000-000000000001'
    const { billing } = shop
    await shop.send(await shop.createPayment({ id }))
    await billing.endpoints.create({ name: 'shop', url: 'http://127.0.0.1:9/hooks' })
    const payable = { type: 'account', id: '7' }
    await billing.subscriptions.create({ gateway: 'fake', plan: 'pro', payable, trialDays: 9 })
    await billing.subscriptions.hold('a test')
    const waiting = assert.rejects(shop.events.waitFor('PaymentRefunded'), /was reset/)
    await shop.reset()
    await waiting
    const left = await Promise.all([
      billing.payments.list(),
      billing.calls.list(),
      billing.events.list(),
      billing.subscriptions.list(),
    ])
    assert.deepEqual(
      left.map(({ data }) => data.length),
      [0, 0, 0, 0],
    )
    assert.deepEqual(await billing.endpoints.list(), [])
    assert.deepEqual(shop.events.all, [])
    broken.clear()
    await shop.send(await shop.createPayment({ id }))
    await shop.idle(atLeisure)
    assert.deepEqual(
      shop.events.all.map(({ type }) => type),
      ['PaymentSucceeded'],
    )
  })
})

test('a reset empties no database that is kept but that of a test', async () => {
  await using billing = await openBilling(embedded)
  const { db } = billing.database
  const empty = (one: Partial<EmptiedDatabase>) =>
    emptyDatabase(db, { memory: false, dataDir: '.quittance', ...one })
  await assert.rejects(empty({ url: 'postgres://db/shop', memory: true }), /"test": postgres$/)
  for (const dataDir of ['.quittance', '/srv/latest/data', '/srv/contest']) {
    await assert.rejects(empty({ dataDir }), { message: new RegExp(`"test": ${dataDir}$`) })
  }
  for (const dataDir of ['test', '/srv/shop_test', '/srv/Tests/data']) await empty({ dataDir })
  await empty({ memory: true })
})

onPostgres((engine) => {
  test('a test billing that records every event warns of none', async () => {
    const { log, lines } = capturedLog()
    await using billing = await openRecorded(engine, { log })
    await billing.idle(atLeisure)
    assert.deepEqual(
      lines.filter(({ level }) => Number(level) > 30),
      [],
    )
  })

  test('the credentials given win over the test ones', async () => {
    const signing_secret = 'whsec_of_the_app_itself'
    await using own = await openRecorded(engine, { gateways: { stripe: { signing_secret } } })
    const payment = await own.createPayment({ gateway: 'stripe' })
    await using other = await openRecorded(engine)
    const foreign = other.signedRequest('stripe', { payment })
    assert.equal((await own.deliver(foreign)).status, 403)
    assert.equal((await own.send(payment)).status, 200)
  })

  test('listeners may be registered until the first callback, under the sync queue too', async () => {
    await using sync = await openRecorded(engine, { billing: { queue: { connection: 'sync' } } })
    await using late = await openRecorded(engine)
    const seen: string[] = []
    late.billing.on('PaymentSucceeded', 'late', ({ id }) => {
      seen.push(id)
    })
    for (const one of [sync, late]) {
      const payment = await one.createPayment()
      assert.equal((await one.send(payment)).status, 200)
      await one.idle(atLeisure)
      assert.deepEqual(
        one.events.all.map(({ type }) => type),
        ['PaymentSucceeded'],
      )
    }
    assert.equal(seen.length, 1)
    assert.throws(() => late.billing.on('PaymentFailed', 'tooLate', () => {}), {
      code: 'listener_too_late',
    })
  })

  test('close() ends who still waits for an event', async () => {
    const other = await openRecorded(engine)
    const waiting = other.events.waitFor('PaymentFailed', { withinMs: 60_000 })
    await new Promise(setImmediate)
    await other.events.waitFor('PaymentFailed', { withinMs: 0 }).catch(() => {})
    await other.close()
    await assert.rejects(waiting, { message: /^no PaymentFailed before the billing was closed/ })
  })
})
