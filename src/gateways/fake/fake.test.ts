import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../kernel/log.ts'
import { decide } from '../../payments/transition.ts'
import { readCredentials } from '../credentials.ts'
import { fake } from './index.ts'
import { pendingPayment } from '../../../test/support/pending-payment.ts'

const paymentId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01'
const on = readCredentials(fake, {}, { production: false })
const context = { credentials: on, log: silentLog, signal: AbortSignal.timeout(60_000) }
const now = new Date('2026-11-20T12:00:00Z')

const charge = pendingPayment({ id: paymentId, gateway: 'fake', amount: 100n, currency: 'UAH' })

const requestOf = (body: string, contentType = 'application/json') => ({
  headers: { 'content-type': contentType },
  body: Buffer.from(body),
})
const verdictOf = (body: string) => fake.verify(requestOf(body), on, now)
const outcomesOf = (fields: object) =>
  fake.interpret(fake.parse(requestOf(JSON.stringify(fields))), context)

test('both results are accepted, with other fields and any content type beside them', () => {
  for (const result of ['success', 'failure']) {
    const body = JSON.stringify({ payment_id: paymentId, result, note: 'x' })
    assert.deepEqual(verdictOf(body), { valid: true })
    assert.deepEqual(fake.verify(requestOf(body, 'text/plain'), on, now), { valid: true })
  }
})

test('a callback with bad fields is malformed and the first bad field is named', () => {
  const withResult = (result: unknown) => JSON.stringify({ payment_id: paymentId, result })
  const withId = (id: unknown) => JSON.stringify({ payment_id: id, result: 'success' })
  const cases: readonly (readonly [string, string])[] = [
    ...[
      '',
      'null',
      'true',
      '1',
      '"x"',
      '[]',
      '{',
      '\0',
      `payment_id=${paymentId}&result=success`,
    ].map((body) => [body, 'body'] as const),
    [`{"payment_id":"${paymentId}","result":"failure","result":"success"}`, 'body'],
    ['{}', 'payment_id'],
    ...[null, 1, true, [paymentId], { id: paymentId }].map(
      (id) => [withId(id), 'payment_id'] as const,
    ),
    [JSON.stringify({ payment_id: paymentId }), 'result'],
    ...['SUCCESS', 'success\n', ' success', 'paid', '', true, 1, null, ['success']].map(
      (result) => [withResult(result), 'result'] as const,
    ),
  ]
  for (const [body, malformed] of cases) assert.deepEqual(verdictOf(body), { malformed }, body)
})

test('a gateway that is switched off takes nothing, not even to say what is wrong with it', () => {
  const off = readCredentials(fake, {}, { production: true })
  for (const body of ['', JSON.stringify({ payment_id: paymentId, result: 'success' })]) {
    assert.deepEqual(fake.verify(requestOf(body), off, now), {
      valid: false,
      reason: 'switched_off',
    })
  }
})

test('success pays what was charged and failure fails', async () => {
  const payment = { id: paymentId }
  assert.deepEqual(await outcomesOf({ payment_id: paymentId, result: 'success' }), [
    { type: 'payment', payment, status: 'paid', amountIs: 'as_charged' },
  ])
  assert.deepEqual(await outcomesOf({ payment_id: paymentId, result: 'failure' }), [
    { type: 'payment', payment, status: 'failed' },
  ])
})

test('a success may save a test card, and a failure say why', async () => {
  const payment = { id: paymentId }
  const [, card, ...more] = await outcomesOf({
    payment_id: paymentId,
    result: 'success',
    card: 'soft',
  })
  assert.deepEqual(card, {
    type: 'payment_method',
    status: 'attached',
    reference: `fake_card_soft_${paymentId}`,
    payment,
    details: { kind: 'card', brand: 'soft', lastFour: '4242' },
  })
  assert.deepEqual(more, [])
  assert.deepEqual(await outcomesOf({ payment_id: paymentId, result: 'failure', code: 'lost' }), [
    { type: 'payment', payment, status: 'failed', declineCode: 'lost' },
  ])
})

test('a card that there is not is not saved, and one by which nothing would be answered is none', async () => {
  for (const card of ['', 'visa', 'refused', 'lost', 'cut', 'slow', 'constructor']) {
    const outcomes = await outcomesOf({ payment_id: paymentId, result: 'success', card })
    assert.deepEqual(
      outcomes.map((one) => (one.type === 'ignored' ? one.reason : one.type)),
      ['payment', 'invalid_reference'],
      card,
    )
  }
  const body = (fields: object) =>
    JSON.stringify({ payment_id: paymentId, result: 'success', ...fields })
  for (const wrong of [null, 1, true, ['good'], { card: 'good' }]) {
    assert.deepEqual(verdictOf(body({ card: wrong })), { malformed: 'card' })
    assert.deepEqual(verdictOf(body({ code: wrong })), { malformed: 'code' })
  }
})

test('a payment_id that is no UUID is accepted and ignored', async () => {
  for (const id of ['', 'order-7', `{${paymentId}}`, `${paymentId}\n`, ` ${paymentId}`]) {
    const fields = { payment_id: id, result: 'success' }
    assert.deepEqual(verdictOf(JSON.stringify(fields)), { valid: true })
    const [outcome] = await outcomesOf(fields)
    assert.equal(outcome?.type === 'ignored' && outcome.reason, 'invalid_reference', id)
  }
})

test('what a sender wrote is cut before it is kept as a detail', async () => {
  const [outcome] = await outcomesOf({ payment_id: `${'x'.repeat(98)}😀x\n`, result: 'success' })
  assert.deepEqual(outcome, {
    type: 'ignored',
    reason: 'invalid_reference',
    detail: `${'x'.repeat(98)}\ufffd…`,
  })
})

test('a fake success settles whatever was charged, and a stated amount is still compared', () => {
  const payment = { ...charge, amount: 12_345n, currency: 'JPY' }
  const paid = { type: 'payment', payment: { id: paymentId }, status: 'paid' } as const
  const asCharged = { ...paid, amountIs: 'as_charged' } as const
  const mismatch = { kind: 'ignore', reason: 'amount_mismatch', review: true }
  assert.deepEqual(decide(payment, 'fake', asCharged), { kind: 'move' })
  assert.deepEqual(decide(payment, 'fake', paid), mismatch)
  assert.deepEqual(decide(payment, 'fake', { ...asCharged, amount: 1n }), mismatch)
  assert.deepEqual(decide(payment, 'fake', { ...asCharged, currency: 'UAH' }), mismatch)
})
