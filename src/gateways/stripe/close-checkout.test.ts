import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import { sessionId, startOperations, paymentOf } from '../../../test/gateways/stripe/operations.ts'

test('a checkout is closed once, and what is not open is left alone', async () => {
  await using started = await startOperations()
  await started.open()
  const payment = paymentOf({ checkoutReference: sessionId })
  assert.equal(await started.closeCheckout(payment), 'closed')
  assert.equal(await started.closeCheckout(payment), 'not_open')
  assert.deepEqual((await started.poll(payment)).standing, 'unpaid')
  const unknown = paymentOf({ checkoutReference: 'cs_test_unknown' })
  assert.equal(await started.closeCheckout(unknown), 'not_open')
})

test('a checkout whose opening was not answered is found, and closed', async () => {
  await using started = await startOperations()
  assert.equal(await started.closeCheckout(paymentOf()), 'not_open')
  await started.open()
  assert.equal(await started.closeCheckout(paymentOf({ id: otherId })), 'not_open')
  assert.equal(await started.closeCheckout(paymentOf()), 'closed')
  const asked = started.standIn.asked.length
  assert.equal(await started.closeCheckout(paymentOf({ providerReference: 'in_1' })), 'not_open')
  assert.equal(started.standIn.asked.length, asked, 'nobody closes an invoice')
})

test('a paid checkout is not closed', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.pay(paymentId)
  const payment = paymentOf({ checkoutReference: sessionId })
  assert.equal(await started.closeCheckout(payment), 'not_open')
  assert.equal((await started.poll(payment)).outcomes[0]?.type, 'payment')
})

test('the official package closes a checkout the same way', async () => {
  await using started = await startOperations()
  await started.open()
  const closed = await started.official.checkout.sessions.expire(sessionId)
  assert.equal(closed.status, 'expired')
  await assert.rejects(started.official.checkout.sessions.expire(sessionId), { statusCode: 400 })
})
