import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createBilling } from '../../src/index.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { capturedLog } from '../support/captured-log.ts'
import { postgres } from '../support/databases.ts'
import { cameAt } from '../support/id-made-at.ts'
import { startStandIn, type StandIn } from '../support/stand-in.ts'
import {
  callbackAbout,
  keyField,
  keyOf,
  settingsOf,
  signing,
  textAbout,
  wireOf,
  type Callback,
} from './callbacks.ts'
import { openService, refused, settles, type Result, type Service } from './callback-service.ts'

// What has gone wrong in other webhook receivers, with all gateways against the whole service.

const repeated: Result = { ...settles, outcome: ['duplicate payment:paid'] }
const wayforpayKey = keyOf('wayforpay')

/** What the API of WayForPay says of every order, in words that differ from the callback. */
const order = { refundAmount: '0', recToken: 'token-of-the-api' }

function orderStatus(orderReference: string): string {
  const signed = ['test_merchant_account_of_wayforpay', orderReference, '150.75', 'UAH', '1', '']
  const status = order.refundAmount === '0' ? 'Approved' : 'Refunded'
  const digest = createHmac('md5', wayforpayKey).update([...signed, status, '1100'].join(';'))
  return `{"merchantAccount":"${signed[0]}","orderReference":"${orderReference}",
    "merchantSignature":"${digest.digest('hex')}","amount":150.75,"currency":"UAH","authCode":"1",
    "cardPan":"","transactionStatus":"${status}","reasonCode":1100,
    "refundAmount":${order.refundAmount},"recToken":"${order.recToken}"}`
}

let api: StandIn
let service: Service
before(async () => {
  api = await startStandIn(({ body }) => {
    const { orderReference } = JSON.parse(body) as { readonly orderReference: string }
    return { body: orderStatus(orderReference) }
  })
  const { wayforpay, ...others } = settingsOf()
  const gateways = { ...others, wayforpay: { ...wayforpay, api_base: api.base } }
  service = await openService(postgres, { gateways })
})
after(async () => {
  await service[Symbol.asyncDispose]()
  await api.close()
})

describe('a secret that is none', () => {
  for (const blank of ['', ' ', 'undefined', ' , ,null']) {
    test(`settings of ${JSON.stringify(blank)} configure nothing: whatever is signed is refused`, async () => {
      const gateways = Object.fromEntries(
        Object.entries(settingsOf()).map(([name, fields]) => [
          name,
          Object.fromEntries(Object.keys(fields).map((field) => [field, blank])),
        ]),
      )
      await using bare = await openService(postgres, { gateways: { ...gateways, fake: {} } })
      for (const { name } of signing) {
        const payment = await bare.pay(name)
        const wire = wireOf(name)
        const text = textAbout({ ...payment, merchantAccount: 'x' })
        for (const key of [blank, blank.trim(), 'null', 'undefined', keyOf(name)]) {
          assert.deepEqual(await bare.send(payment, wire.sign(text, key)), refused, name)
        }
      }
    })
  }

  test('a short secret counts, with a warning that names its setting and not the secret', async () => {
    const short = Object.fromEntries(
      ['stripe', 'paddle'].map((name) => [name, { signing_secret: `${name}_8` }]),
    )
    await using weak = await openService(postgres, { gateways: short })
    for (const name of Object.keys(short)) {
      const payment = await weak.pay(name)
      const callback = wireOf(name).sign(textAbout(payment), `${name}_8`)
      assert.deepEqual(await weak.send(payment, callback), settles)
    }
    const { log, lines } = capturedLog()
    createBilling({ gateways: short, log })
    const warned = lines.filter(({ level }) => level === 40).map(({ msg }) => String(msg))
    assert.deepEqual(
      warned.map((text) => /\w+_SIGNING_SECRET/.exec(text)?.[0]),
      ['STRIPE_SIGNING_SECRET', 'PADDLE_SIGNING_SECRET'],
    )
    assert.doesNotMatch(warned.join(), /_8/)
  })

  for (const [name, values] of [
    ['hutko', { merchant_id: '1396424', secret_key: 'own_key_of_the_shop' }],
    ['hutko', { merchant_id: '1700001', secret_key: 'test' }],
    ['wayforpay', { merchant_account: 'test_merch_n1', secret_key: 'own_key_of_the_shop' }],
    ['liqpay', { public_key: 'i00000000', private_key: 'your_private_key' }],
  ] as const) {
    test(`in production ${name} is not started with what it publishes for tests: ${Object.values(values).join()}`, () => {
      const gateways = { [name]: values }
      assert.throws(() => createBilling({ gateways, production: true }), {
        code: 'setting_invalid',
      })
    })
  }
})

describe('a secret that is replaced', () => {
  test('inside the rotation both count, afterwards the old one does not', async () => {
    const [old, fresh] = [settingsOf('old'), settingsOf('fresh')]
    const joined = (name: string) => {
      const fields = { ...fresh[name] }
      for (const field of [keyField[name] ?? '', 'public_key']) {
        if (field === 'public_key' && name !== 'monobank') continue
        if (fields[field]) fields[field] += `,${old[name]?.[field]}`
      }
      return fields
    }
    const both = Object.fromEntries(signing.map(({ name }) => [name, joined(name)]))
    await using rotating = await openService(postgres, { gateways: both })
    await using rotated = await openService(postgres, { gateways: fresh })
    for (const { name } of signing) {
      for (const [at, owner, expected] of [
        [rotating, 'old', settles],
        [rotating, 'fresh', settles],
        [rotated, 'old', refused],
        [rotated, 'fresh', settles],
      ] as const) {
        const payment = await at.pay(name)
        const callback = signedBy(payment, owner, fresh[name] ?? {})
        assert.deepEqual(await at.send(payment, callback), expected, `${name} ${owner}`)
      }
    }
  })
})

/** By the key of that owner, about the account of the settings. */
function signedBy(payment: Payment, owner: string, settings: Readonly<Record<string, string>>) {
  const { merchant_account, merchant_id, public_key } = settings
  const account = payment.gateway === 'liqpay' ? public_key : (merchant_account ?? merchant_id)
  const text = textAbout({ ...payment, merchantAccount: account ?? null })
  return wireOf(payment.gateway).sign(text, keyOf(payment.gateway, owner))
}

describe('the same callback again', () => {
  for (const { name } of signing) {
    test(`${name}: whatever ids its headers have, it is one event, and each time 200`, async () => {
      const payment = await service.pay(name)
      const genuine = callbackAbout(payment)
      assert.deepEqual(await service.send(payment, genuine), settles)
      for (const headers of [{}, ids('1'), ids('2'), ids(''), { 'x-forwarded-for': '192.0.2.9' }]) {
        const again = { headers: { ...genuine.headers, ...headers }, body: genuine.body }
        assert.deepEqual(await service.send(payment, again), repeated)
      }
    })

    test(`${name}: after 31 and after 400 days, its call pruned, it fires nothing`, async () => {
      const payment = await service.pay(name)
      const captured = callbackAbout(payment)
      assert.deepEqual(await service.send(payment, captured), settles)
      for (const days of [31, 400]) {
        await sql`update billing.webhook_calls set
            ${sql.raw(cameAt(`received_at - make_interval(days => ${days})`))},
            processed_at = processed_at - make_interval(days => ${days})
          where payment_id = ${payment.id}::uuid`.execute(service.database.db)
        assert.ok((await service.core.prune()).deletedCalls > 0)
        assert.deepEqual(await service.send(payment, captured), repeated)
      }
    })
  }

  for (const [name, scenarios] of [
    ['stripe', ['intent_paid', 'async_paid', 'paid']],
    ['paddle', ['captured', 'paid']],
  ] as const) {
    test(`${name}: one payment that several notifications tell of is one event`, async () => {
      const payment = await service.pay(name)
      const [first, ...next] = scenarios
      const told = callbackAbout(payment, { scenario: first })
      assert.deepEqual(await service.send(payment, told), settles)
      for (const scenario of next) {
        const callback = callbackAbout(payment, { scenario })
        assert.deepEqual(await service.send(payment, callback), repeated)
      }
    })
  }

  test('monobank: the other signature that fits the same bytes is no other callback', async () => {
    const payment = await service.pay('monobank')
    const genuine = callbackAbout(payment)
    assert.deepEqual(await service.send(payment, genuine), settles)
    const twin = wireOf('monobank').withSignature(genuine, malleated(genuine))
    assert.notDeepEqual(twin, genuine)
    assert.deepEqual(await service.send(payment, twin), repeated)
  })

  test('wayforpay: each delivery gets an answer of its own, signed for its order and time', async () => {
    const payment = await service.pay('wayforpay')
    const callback = callbackAbout(payment)
    for (let times = 0; times < 3; times += 1) {
      const begun = Math.floor(Date.now() / 1000)
      const { answer } = await service.receive('wayforpay', callback)
      const { orderReference, status, time, signature } = JSON.parse(answer.body) as Readonly<
        Record<string, string>
      >
      assert.deepEqual([orderReference, status], [payment.id, 'accept'])
      assert.ok(Number(time) >= begun && Number(time) <= Date.now() / 1000, `${time}`)
      assert.equal(signature, accepted(orderReference, time))
    }
  })

  test('wayforpay: a reference in quotes is repeated as JSON, and signed as it came', async () => {
    const payment = await service.pay('wayforpay')
    const hostile = 'a","status":"<b>\\ж'
    const changes = { orderReference: JSON.stringify(hostile) }
    const { answer } = await service.receive('wayforpay', callbackAbout(payment, { changes }))
    const { orderReference, status, time, signature } = JSON.parse(answer.body) as Readonly<
      Record<string, string>
    >
    assert.deepEqual([orderReference, status], [hostile, 'accept'])
    assert.equal(signature, accepted(hostile, time))
  })
})

function accepted(reference = '', time = ''): string {
  const signed = `${reference};accept;${time}`
  return createHmac('md5', wayforpayKey).update(signed).digest('hex')
}

/** Headers by which senders and proxies number deliveries; none of them is signed. */
function ids(id: string): Readonly<Record<string, string>> {
  const names = ['x-request-id', 'webhook-id', 'x-event-id', 'idempotency-key', 'x-delivery-id']
  return Object.fromEntries(names.map((name) => [name, id]))
}

/** s replaced by n - s: what ECDSA accepts for the same bytes without the key. */
function malleated(callback: Callback): string {
  const bytes = Buffer.from(wireOf('monobank').signatureIn(callback), 'base64')
  const r = bytes.subarray(2, 4 + (bytes[3] ?? 0))
  const s = BigInt(`0x${bytes.subarray(2 + r.length + 2).toString('hex')}`)
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const hex = (n - s).toString(16)
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  const positive = (digits[0] ?? 0) < 0x80 ? digits : Buffer.from([0, ...digits])
  const both = Buffer.from([...r, 2, positive.length, ...positive])
  return Buffer.from([0x30, both.length, ...both]).toString('base64')
}

describe('facts that are not in the signature', () => {
  test('wayforpay: a card token put into a captured callback is not the one that is kept', async () => {
    const payment = await service.pay('wayforpay')
    const callback = callbackAbout(payment, {
      changes: { recToken: '"token-of-somebody"', fee: '9' },
    })
    const result = await service.send(payment, callback)
    assert.deepEqual([result.status, result.payment], [200, 'paid'])
    assert.deepEqual(result.outcome, ['applied payment:paid', 'applied payment_method:attached'])
    const again = callbackAbout(payment, { changes: { recToken: '"another"' } })
    assert.deepEqual((await service.send(payment, again)).outcome, [
      'duplicate payment:paid',
      'duplicate payment_method:attached',
    ])
    const details = await service.core.payments.get(payment.id)
    assert.equal(details?.paymentMethods.length, 1)
  })

  test('wayforpay: two refunds that are reported by the same bytes are two', async () => {
    const payment = await service.pay('wayforpay')
    assert.deepEqual(await service.send(payment, callbackAbout(payment)), settles)
    const callback = callbackAbout(payment, { scenario: 'refunded' })
    for (const total of ['75.37', '150.75', '150.75']) {
      order.refundAmount = total
      assert.equal((await service.send(payment, callback)).status, 200)
    }
    order.refundAmount = '0'
    const details = await service.core.payments.get(payment.id)
    assert.deepEqual(
      details?.refunds.map(({ amount }) => amount),
      [7_537n, 7_538n],
    )
    assert.equal(details?.events.filter(({ type }) => type === 'PaymentRefunded').length, 2)
  })

  test('paddle: a refund whose approval comes before its request is one refund', async () => {
    const payment = await service.pay('paddle')
    assert.deepEqual(await service.send(payment, callbackAbout(payment)), settles)
    for (const scenario of ['refunded', 'refund_pending', 'refunded']) {
      await service.send(payment, callbackAbout(payment, { scenario }))
    }
    const details = await service.core.payments.get(payment.id)
    assert.deepEqual(
      details?.refunds.map(({ amount, status }) => [amount, status]),
      [[15_075n, 'paid']],
    )
    assert.deepEqual(
      details?.events.map(({ type }) => type),
      ['PaymentSucceeded', 'PaymentRefunded'],
    )
  })
})
