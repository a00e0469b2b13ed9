import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { embedded } from '../support/databases.ts'
import {
  callbackAbout,
  keyOf,
  signing,
  textAbout,
  wireOf,
  type Callback,
  type Changes,
} from './callbacks.ts'
import {
  ignoredAs,
  openService,
  refused,
  settles,
  type Result,
  type Service,
} from './callback-service.ts'

// What is rightly signed and says something that must not be applied: answered 200, stored with
// its reason, no payment moved. Money: bad-money.test.ts; Stripe: stripe-content.test.ts.

let service: Service
before(async () => {
  service = await openService(embedded)
})
after(() => service[Symbol.asyncDispose]())

const reference: Readonly<Record<string, string>> = {
  paddle: 'payment_id',
  monobank: 'reference',
  liqpay: 'order_id',
  wayforpay: 'orderReference',
  hutko: 'order_id',
}
const status: Readonly<Record<string, string>> = {
  paddle: 'status',
  monobank: 'status',
  liqpay: 'status',
  wayforpay: 'transactionStatus',
  hutko: 'order_status',
}
const others = Object.keys(reference)

async function says(name: string, changes: Changes): Promise<Result> {
  const payment = await service.pay(name)
  return service.send(payment, callbackAbout(payment, { changes }))
}

const references: Readonly<Record<string, (id: string) => string>> = {
  'no UUID': () => 'order-42',
  'a UUID in braces': (id) => `{${id}}`,
  'a UUID as a URN': (id) => `urn:uuid:${id}`,
  'a UUID in capitals': (id) => id.toUpperCase(),
  'a UUID without hyphens': (id) => id.replaceAll('-', ''),
  'a blank before a UUID': (id) => ` ${id}`,
  'a blank behind a UUID': (id) => `${id} `,
  'a colon and more behind a UUID': (id) => `${id}:paid`,
  'a UUID twice': (id) => `${id},${id}`,
  'a wildcard': () => '%',
}

/** Nothing outside of plain text is signed by hutko: such values are refused before. */
const lined: typeof references = {
  'a line end behind a UUID': (id) => `${id}\n`,
  'a line before a UUID': (id) => `order\n${id}`,
  'a zero byte behind a UUID': (id) => `${id}\0`,
}

describe('bad inputs, J: references', () => {
  for (const name of others) {
    for (const [what, make] of Object.entries({ ...references, ...lined })) {
      const expected = name === 'hutko' && what in lined ? refused : ignoredAs('invalid_reference')
      test(`${name}: ${what} is no payment of ours -> ${expected.status}`, async () => {
        const payment = await service.pay(name)
        const changes = { [reference[name] ?? '']: JSON.stringify(make(payment.id)) }
        assert.deepEqual(await service.send(payment, callbackAbout(payment, { changes })), expected)
      })
    }
  }
})

const nearlyPaid = ['PAID', 'Success', 'SUCCESS', 'approved ', 'APPROVED', 'succeeded', 'ok', '1']

describe('bad inputs, J: statuses', () => {
  for (const name of others) {
    for (const word of nearlyPaid.filter((one) => name !== 'liqpay' || one.trim() === one)) {
      test(`${name}: the status ${JSON.stringify(word)} is not paid`, async () => {
        assertUndecided(await says(name, { [status[name] ?? '']: JSON.stringify(word) }), name)
      })
    }

    for (const lexeme of ['true', '1', 'null', '[]', '{}', '""', undefined]) {
      test(`${name}: the status ${lexeme} is not paid`, async () => {
        const result = await says(name, { [status[name] ?? '']: lexeme })
        // LiqPay's without a status is our own form, which its payer holds: he must not fill reviews.
        assertUndecided(result, name, name !== 'liqpay' || lexeme !== undefined)
      })
    }

    test(`${name}: of a status of 10 KB little is kept`, async () => {
      const long = 'x'.repeat(10_240)
      const result = await says(name, { [status[name] ?? '']: `"${long}"` })
      assertUndecided(result, name)
      assert.equal(result.status, 200)
      const [call] = (await service.core.calls.list({ limit: 1 })).data
      assert.ok(JSON.stringify(call?.outcome).length < 1_000)
      assert.ok(!JSON.stringify(service.logged).includes(long))
    })
  }

  for (const [what, changes] of [
    ['a code of success with a refusal', { transactionStatus: '"Declined"', reasonCode: '1100' }],
    ['a code of refusal with an approval', { transactionStatus: '"Approved"', reasonCode: '1101' }],
    ['another code with an approval', { transactionStatus: '"Approved"', reasonCode: '"1100.0"' }],
  ] as const) {
    test(`wayforpay: ${what} decides nothing, and a person looks`, async () => {
      assert.deepEqual(await says('wayforpay', changes), ignoredAs('no_outcome', true))
    })
  }

  for (const [name, scenario] of [
    ['monobank', 'hold'],
    ['monobank', 'pending'],
    ['hutko', 'held'],
    ['wayforpay', 'held'],
    ['liqpay', 'pending'],
    ['paddle', 'pending'],
  ] as const) {
    test(`${name}: money that is only ${scenario} is not paid`, async () => {
      const payment = await service.pay(name)
      const callback = callbackAbout(payment, { scenario })
      assert.deepEqual(await service.send(payment, callback), ignoredAs('no_outcome'))
    })
  }
})

/**
 * Stored with a reason, and for a person to look at; where the signature itself pins the status,
 * refused is as good.
 */
function assertUndecided(result: Result, name: string, review = true): void {
  const reasons = ['unhandled_event', 'no_outcome', 'malformed_payload']
  const pinned = name === 'wayforpay' || name === 'hutko'
  const [reason = ''] = result.outcome ?? []
  assert.deepEqual(result, pinned && result.status === 403 ? refused : ignoredAs(reason, review))
  assert.ok(result.status === 403 || reasons.includes(reason))
}

/** Members of a Paddle notification written anew, as its own signature allows. */
function paddleEvent(payment: Payment, fields: object): Callback {
  const event = { ...(JSON.parse(textAbout(payment)) as object), ...fields }
  return wireOf('paddle').sign(JSON.stringify(event), keyOf('paddle'))
}

describe('bad inputs, E: what a signed Paddle event may lack', () => {
  for (const data of [undefined, null, [], 'x', 1, {}, { id: 'txn_1' }, { id: ['txn_01a'] }]) {
    test(`data ${JSON.stringify(data)} is Ignored`, async () => {
      const payment = await service.pay('paddle')
      const result = await service.send(payment, paddleEvent(payment, { data }))
      // A transaction that is not stored, and that names no payment, need not be about us.
      assertUndecided(result, 'paddle', JSON.stringify(data) !== '{"id":"txn_1"}')
    })
  }

  for (const event_type of ['transaction.invented', 'TRANSACTION.PAID', '__proto__', 'toString']) {
    test(`the event type ${event_type} is Ignored unhandled_event`, async () => {
      const payment = await service.pay('paddle')
      const result = await service.send(payment, paddleEvent(payment, { event_type }))
      assert.deepEqual(result, ignoredAs('unhandled_event'))
    })
  }
})

describe('bad inputs, J: whose money it is', () => {
  for (const [name, changes] of [
    ['liqpay', { status: '"sandbox"' }],
    ['hutko', { additional_info: JSON.stringify('{"capture_status":null,"is_test":true}') }],
    ['wayforpay', undefined],
  ] as const) {
    test(`${name}: a callback of the other mode settles nothing`, async () => {
      // WayForPay's mode is that of its account; the one of these tests is no test account.
      const payment = await service.pay(name, { live: changes !== undefined })
      const callback = callbackAbout(payment, { changes: changes ?? {} })
      assert.deepEqual(await service.send(payment, callback), ignoredAs('mode_mismatch', true))
    })
  }

  for (const [name, field] of [
    ['liqpay', 'public_key'],
    ['hutko', 'merchant_id'],
  ] as const) {
    test(`${name}: another merchant under our key settles nothing`, async () => {
      const result = await says(name, { [field]: '"17001234567"' })
      assert.deepEqual(result, ignoredAs('merchant_mismatch', true))
    })
  }

  for (const { name } of signing.filter(
    ({ name }) => name !== 'wayforpay' && name !== 'monobank',
  )) {
    test(`${name}: one charge of the provider pays for one payment`, async () => {
      const first = await service.pay(name)
      assert.deepEqual(await service.send(first, callbackAbout(first)), settles)
      const paid = await service.core.payments.get(first.id)
      const { checkoutReference = null, providerReference = null } = paid ?? {}
      assert.ok(checkoutReference !== null || providerReference !== null)
      const second = await service.pay(name)
      const again = callbackAbout({ ...second, checkoutReference, providerReference })
      // Paddle's transaction names its payment, whatever its custom data claim.
      const repeated = { ...ignoredAs('already_paid', false), outcome: ['duplicate payment:paid'] }
      assert.deepEqual(
        await service.send(second, again),
        name === 'paddle' ? repeated : ignoredAs('provider_reference_taken', true),
      )
      assert.deepEqual(await service.send(second, callbackAbout(second)), settles)
    })
  }

  test('monobank: without an invoice of ours a callback settles nothing', async () => {
    const payment = await service.pay('monobank', { checkoutReference: undefined })
    const result = await service.send(payment, callbackAbout(payment))
    assert.deepEqual(result, ignoredAs('checkout_reference_unknown', true))
  })

  for (const gateway of signing.filter(({ signer }) => signer?.scenarios['renewed'])) {
    const { name } = gateway
    test(`${name}: the subscription of another gateway's payment is not renewed`, async () => {
      const owner = await service.pay(name === 'stripe' ? 'paddle' : 'stripe')
      const foreign = { ...owner, gateway: name, merchantAccount: null, live: null }
      const renewal = callbackAbout(foreign, { scenario: 'renewed' })
      const count = async () => (await service.core.payments.list({ limit: 100 })).data.length
      const before = await count()
      // Stripe's speaks of a document, too, whose payment is not there.
      const document = name === 'stripe' ? ['unknown_payment'] : []
      const refused = ignoredAs('gateway_mismatch', true)
      assert.deepEqual(await service.send(owner, renewal, name), {
        ...refused,
        outcome: [...(refused.outcome ?? []), ...document],
      })
      assert.equal(await count(), before)
    })
  }

  test('an unknown payment is Ignored, and nothing is made', async () => {
    for (const { name } of signing) {
      const payment = await service.pay(name)
      const stranger = { ...payment, id: newUuid(), checkoutReference: null }
      const result = await service.send(payment, callbackAbout(stranger))
      assert.deepEqual(result.outcome, ['unknown_payment'], name)
      assert.deepEqual([result.payment, result.events], ['pending', []], name)
    }
  })
})
