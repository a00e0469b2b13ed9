import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Wayforpay } from 'wayforpay-ts-integration'
import {
  account,
  jsonOf,
  paymentId,
  renewalReference,
  secretKey,
  signedFields,
  without,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { reply, startLookUps, type Answer } from '../../../test/gateways/wayforpay/look-up.ts'
import { statusReply } from '../../../test/gateways/wayforpay/status-reply.ts'

const { outcomesOf, requests, close } = await startLookUps()
after(close)

const binding = { merchantAccount: account, live: true }
const refund = (refundedTotal: bigint, more: object = {}) => ({
  type: 'refund',
  status: 'paid',
  payment: { id: paymentId },
  refundedTotal,
  currency: 'UAH',
  ...binding,
  ...more,
})
const paid = (more: object = {}) => ({
  type: 'payment',
  status: 'paid',
  payment: { id: paymentId },
  amount: 15_075n,
  currency: 'UAH',
  ...binding,
  ...more,
})
const refunded = { transactionStatus: '"Refunded"' }
const voided = { transactionStatus: '"Voided"' }

test('the inquiry is signed as the protocol and the third-party package do it', async () => {
  await outcomesOf(refunded, [reply({ ...refunded, refundAmount: '1' })])
  const request = requests.at(-1)
  assert.equal(request?.method, 'POST')
  assert.equal(request.target, '/api')
  assert.match(request.headers['content-type'] ?? '', /^application\/json/)
  const sdk = new Wayforpay({ merchantLogin: account, merchantSecret: secretKey })
  assert.equal(sdk['createSignature']([account, paymentId]), '4f37aa317effcf90f864f1b19b71917b')
  assert.deepEqual(JSON.parse(request.body), {
    transactionType: 'CHECK_STATUS',
    merchantAccount: account,
    orderReference: paymentId,
    // Made with OpenSSL.
    merchantSignature: '4f37aa317effcf90f864f1b19b71917b',
    apiVersion: 1,
  })
})

test('how much went back is what the API says, never what the callback does', async () => {
  const cases: readonly (readonly [refundAmount: string, total: bigint])[] = [
    ['150.75', 15_075n],
    ['75.37', 7537n],
    ['"75.37"', 7537n],
    ['0.01', 1n],
  ]
  for (const [refundAmount, total] of cases) {
    const callback = { ...refunded, refundAmount: '150.75' }
    const outcomes = await outcomesOf(callback, [reply({ ...refunded, refundAmount })])
    assert.deepEqual(outcomes, [paid(), refund(total)], refundAmount)
  }
  const yen = { ...refunded, amount: '500', currency: '"JPY"' }
  assert.deepEqual(await outcomesOf(yen, [reply({ ...yen, refundAmount: '500' })]), [
    paid({ amount: 500n, currency: 'JPY' }),
    refund(500n, { currency: 'JPY' }),
  ])
})

test('a refund of a scheduled charge is about that charge, and about no other', async () => {
  const charge = { ...refunded, orderReference: `"${renewalReference}"` }
  const outcomes = await outcomesOf(charge, [reply({ ...charge, refundAmount: '10' })])
  const payment = { providerReference: renewalReference }
  const renewal = { payment, ...payment, renews: { id: paymentId } }
  assert.deepEqual(outcomes, [paid(renewal), refund(1000n, { payment })])
  await assert.rejects(outcomesOf(charge, [reply({ ...refunded, refundAmount: '10' })]), {
    code: 'provider_reply_invalid',
    message: /another_order/,
  })
})

test('a released hold is canceled, a payment that was voided is refunded', async () => {
  const canceled = paid({ status: 'canceled', ifPaid: 'refunded' })
  for (const refundAmount of ['0', 'null', '""', '0.00']) {
    assert.deepEqual(await outcomesOf(voided, [reply({ ...voided, refundAmount })]), [canceled])
  }
  const silent = jsonOf(without(statusReply(voided), 'refundAmount'))
  assert.deepEqual(await outcomesOf(voided, [{ body: silent }]), [canceled])
  const whole = reply({ ...voided, refundAmount: '150.75' })
  assert.deepEqual(await outcomesOf(voided, [whole]), [paid(), refund(15_075n)])
  const charge = { ...voided, orderReference: `"${renewalReference}"` }
  const [renewal] = await outcomesOf(charge, [reply(charge)])
  assert.ok(renewal?.type === 'payment' && renewal.status === 'canceled')
  assert.deepEqual(renewal.renews, { id: paymentId })
})

test('while more is on its way back nothing is counted', async () => {
  const waiting = { transactionStatus: '"RefundInProcessing"', reasonCode: '1138' }
  assert.deepEqual(await outcomesOf(refunded, [reply({ ...waiting, refundAmount: '10' })]), [
    { type: 'ignored', reason: 'no_outcome', detail: 'RefundInProcessing' },
  ])
})

test('a reply that does not confirm the return of money fails the attempt', async () => {
  const cases: readonly (readonly [callback: RawFields, reply: RawFields, says: RegExp])[] = [
    [refunded, refunded, /Refunded and no refunded sum/],
    [refunded, voided, /Voided and no refunded sum/],
    [voided, {}, /Approved and no refunded sum/],
    [refunded, { ...refunded, refundAmount: '"ten"' }, /no sum/],
    [refunded, { ...refunded, refundAmount: '-1' }, /no sum/],
    [refunded, { ...refunded, refundAmount: '1e1' }, /no sum/],
    [refunded, { ...refunded, refundAmount: '[10]' }, /no sum/],
    [refunded, { ...refunded, refundAmount: '10', currency: '"uah"' }, /no sum/],
  ]
  for (const [callback, answer, message] of cases) {
    await assert.rejects(outcomesOf(callback, [reply(answer)]), {
      code: 'provider_reply_invalid',
      message,
    })
  }
})

test('a reply counts only with a signature of our merchant account', async () => {
  const good = statusReply({ ...refunded, refundAmount: '10' })
  const bodies: readonly (readonly [body: unknown, says: RegExp])[] = [
    [jsonOf({ ...good, amount: '1' }), /signature_mismatch/],
    [jsonOf(without(good, 'merchantSignature')), /signature_missing/],
    [jsonOf(signedFields({ ...good, merchantAccount: '"shop_two"' })), /merchant_account_mismatch/],
    [jsonOf(without(good, 'amount')), /signature_mismatch/],
    [jsonOf(without(good, 'transactionStatus')), /signed_field_missing/],
    ['[]', /not_an_object/],
    ['{"reasonCode":1100}', /signed_field_missing/],
  ]
  for (const [body, message] of bodies) {
    await assert.rejects(outcomesOf(refunded, [{ body }]), {
      code: 'provider_reply_invalid',
      message,
    })
  }
})

test('an error of the API fails the attempt and says which, and the next attempt succeeds', async () => {
  const cases: readonly (readonly [answer: Answer, code: string, says: RegExp])[] = [
    [{ body: { reason: 'Order not found', reasonCode: 1127 } }, 'provider_refused', /1127/],
    [{ body: { reasonCode: 1113 } }, 'provider_refused', /1113/],
    [undefined, 'provider_reply_invalid', /not_found/],
    [{ status: 401, body: {} }, 'provider_refused', /401/],
    [{ status: 403, body: {} }, 'provider_refused', /403/],
    [{ status: 500, body: {} }, 'provider_unreachable', /^WayForPay answered POST .*500/],
    [{ body: '<html>' }, 'provider_reply_invalid', /no JSON/],
  ]
  for (const [answer, code, message] of cases) {
    const before = requests.length
    await assert.rejects(outcomesOf(refunded, [answer]), { code, message })
    assert.equal(requests.length, before + 1, 'asked once')
    const next = await outcomesOf(refunded, [reply({ ...refunded, refundAmount: '10' })])
    assert.deepEqual(next, [paid(), refund(1000n)])
  }
})

test('an API that hangs is left when the attempt is over', async () => {
  const abort = new AbortController()
  const pending = outcomesOf(refunded, ['hang'], { signal: abort.signal })
  abort.abort(new Error('time is up'))
  await assert.rejects(pending)
})

test('while the secret is replaced, the one that WayForPay takes is found', async () => {
  const settings = { WAYFORPAY_SECRET_KEY: `the_new_secret_key,${secretKey},the_oldest_secret` }
  const refusal = { body: { reason: 'Invalid signature', reasonCode: 1113 } }
  const before = requests.length
  const right = reply({ ...refunded, refundAmount: '10' })
  assert.deepEqual(await outcomesOf(refunded, [refusal, right], { settings }), [
    paid(),
    refund(1000n),
  ])
  assert.equal(requests.length, before + 2)
  const signature = /"merchantSignature":"4f37aa317effcf90f864f1b19b71917b"/
  assert.doesNotMatch(requests.at(-2)?.body ?? '', signature)
  assert.match(requests.at(-1)?.body ?? '', signature)
  const all = outcomesOf(refunded, [refusal, refusal, refusal], { settings })
  await assert.rejects(all, { code: 'provider_refused', message: /1113/ })
})

test('without the secret, or for another merchant account, nobody is asked', async () => {
  const before = requests.length
  for (const [name, value] of [
    ['WAYFORPAY_SECRET_KEY', ''],
    ['WAYFORPAY_MERCHANT_ACCOUNT', 'shop_two'],
    ['WAYFORPAY_MERCHANT_ACCOUNT', ''],
  ] as const) {
    const pending = outcomesOf(refunded, [], { settings: { [name]: value } })
    await assert.rejects(pending, { code: 'gateway_not_configured' })
  }
  assert.equal(requests.length, before)
})
