import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { maskToken, tokenReference } from '../signing/token-reference.ts'
import {
  account,
  jsonOf,
  paymentId,
  renewalReference,
  secretKey,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { reply, startLookUps, type Answer } from '../../../test/gateways/wayforpay/look-up.ts'
import { savedToken, statusReply } from '../../../test/gateways/wayforpay/status-reply.ts'

const { outcomesOf, requests, close } = await startLookUps()
after(close)

const binding = { merchantAccount: account, live: true }
const paid = {
  type: 'payment',
  status: 'paid',
  payment: { id: paymentId },
  amount: 15_075n,
  currency: 'UAH',
  ...binding,
}
const claimed = { recToken: '"a-token-that-the-payer-wrote"' }

test('a saved card is the one that the API names, not the one in the callback', async () => {
  for (const recToken of [claimed.recToken, `"${maskToken('a token')}"`]) {
    const outcomes = await outcomesOf({ recToken }, [reply({ recToken: `"${savedToken}"` })])
    const [first, card, ...more] = outcomes
    assert.deepEqual(first, paid)
    assert.deepEqual(more, [])
    assert.ok(card?.type === 'payment_method')
    const { token, ...rest } = card
    assert.deepEqual(rest, {
      type: 'payment_method',
      status: 'attached',
      reference: tokenReference(savedToken),
      payment: { id: paymentId },
      details: { kind: 'card', brand: 'visa', lastFour: '4441' },
      ...binding,
    })
    assert.equal(token?.reveal(), savedToken)
  }
})

test('a scheduled charge says whose card it was by its own reference', async () => {
  const charge = { ...claimed, orderReference: `"${renewalReference}"` }
  const [, card] = await outcomesOf(charge, [reply(charge)])
  assert.ok(card?.type === 'payment_method')
  assert.deepEqual(card.payment, { providerReference: renewalReference })
})

test('details that the reply does not have are left out', async () => {
  const cases: readonly (readonly [changes: RawFields, details: object])[] = [
    [{ paymentSystem: '"googlePay"' }, { kind: 'google_pay', brand: 'visa', lastFour: '4441' }],
    [{ paymentSystem: '"applePay"' }, { kind: 'apple_pay', brand: 'visa', lastFour: '4441' }],
    [{ paymentSystem: '"other"' }, { brand: 'visa', lastFour: '4441' }],
    [{ cardType: 'null' }, { kind: 'card', lastFour: '4441' }],
    [{ cardType: '"<b>"' }, { kind: 'card', lastFour: '4441' }],
    [{ cardType: '"Master Card"' }, { kind: 'card', lastFour: '4441' }],
    [{ cardPan: 'null' }, { kind: 'card', brand: 'visa' }],
    [{ cardPan: '"4441"' }, { kind: 'card', brand: 'visa' }],
    [{ cardPan: '"44****444"' }, { kind: 'card', brand: 'visa' }],
    [{ cardPan: '"44****4441 "' }, { kind: 'card', brand: 'visa' }],
  ]
  for (const [changes, details] of cases) {
    const [, card] = await outcomesOf(claimed, [reply({ ...claimed, ...changes })])
    assert.ok(card?.type === 'payment_method')
    assert.deepEqual(card.details, details, JSON.stringify(changes))
  }
})

test('an order for which the API names no token saves no card', async () => {
  for (const recToken of ['""', 'null', '1', '[]']) {
    assert.deepEqual(await outcomesOf(claimed, [reply({ recToken })]), [paid], recToken)
  }
})

test('a payment counts although its card could not be read, and the log says so', async () => {
  const failures: readonly Answer[] = [
    { status: 500, body: {} },
    { body: { reasonCode: 1113 } },
    undefined,
    { body: jsonOf({ ...statusReply(claimed), amount: '1' }) },
    reply({ ...claimed, orderReference: `"${renewalReference}"` }),
  ]
  for (const failure of failures) {
    const logged: string[] = []
    assert.deepEqual(await outcomesOf(claimed, [failure], { logged }), [paid])
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', /"level":40,.*"gateway":"wayforpay".*saved card not read/)
    assert.ok(!logged[0]?.includes('a-token-that') && !logged[0]?.includes(secretKey))
  }
})

test('an attempt that is over reports nothing, not a payment without its card', async () => {
  const abort = new AbortController()
  const pending = outcomesOf(claimed, ['hang'], { signal: abort.signal })
  abort.abort(new Error('time is up'))
  await assert.rejects(pending)
})

test('only a paid order is looked up for its card', async () => {
  const before = requests.length
  const declined = { ...claimed, transactionStatus: '"Declined"', reasonCode: '1104' }
  assert.equal((await outcomesOf(declined, [])).length, 1)
  assert.equal((await outcomesOf({ ...claimed, reasonCode: '1101' }, [])).length, 1)
  assert.equal((await outcomesOf({ ...claimed, orderReference: '"A1"' }, [])).length, 1)
  assert.equal(
    (await outcomesOf({ ...claimed, orderReference: '"A1"', transactionStatus: '"Refunded"' }, []))
      .length,
    1,
  )
  for (const recToken of ['""', 'null', '1', 'true', '["a"]', '{}']) {
    assert.deepEqual(await outcomesOf({ recToken }, []), [paid], recToken)
  }
  assert.equal(requests.length, before)
})
