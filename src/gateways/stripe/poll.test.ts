import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf } from '../../../test/gateways/stripe/api.ts'
import { intent, otherId, paymentId, session } from '../../../test/gateways/stripe/events.ts'
import {
  idPart,
  intentId,
  refundId,
  refundOf,
  sessionId,
  startOperations,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { known, pollOf } from '../../../test/gateways/stripe/polling.ts'

test('the official package reads the stand-in’s callbacks and objects', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.pay(paymentId)
  started.standIn.refundByHand(paymentId, 99n)
  const { official, standIn } = started
  const { body, headers } = standIn.refundCallback(paymentId)
  const header = headers['stripe-signature'] ?? ''
  const secret = standIn.config['signing_secret'] ?? ''
  const told = official.webhooks.constructEvent(body, header, secret)
  assert.equal(told.type, 'refund.created')
  const found = await official.checkout.sessions.retrieve(sessionId, { expand: ['payment_intent'] })
  assert.ok(typeof found.payment_intent === 'object')
  assert.equal(found.payment_intent?.status, 'succeeded')
  const refunds = await official.refunds.list({ payment_intent: intentId })
  assert.deepEqual(
    refunds.data.map(({ amount, status }) => [amount, status]),
    [[99, 'succeeded']],
  )
})

test('all refunds are told: ours with their id, those by hand, and those on their way', async () => {
  await using started = await startOperations({ mostPerPage: 1 })
  const { standIn } = started
  await started.open()
  standIn.pay(paymentId)
  await started.refund(refundOf(1000n))
  standIn.refundsWait = true
  standIn.refundByHand(paymentId, 500n)
  const refund = { type: 'refund', payment: { id: paymentId }, currency: 'USD' } as const
  const first = { refundReference: `re_${idPart}1`, refundId, amount: 1000n, status: 'paid' }
  const second = { refundReference: `re_${idPart}2`, amount: 500n }
  const before = await started.poll(known)
  assert.equal(before.listsRefunds, true)
  assert.deepEqual(before.outcomes.slice(1), [
    { ...refund, ...second, status: 'pending' },
    { ...refund, ...first },
  ])
  standIn.completeRefunds(paymentId)
  const after = await started.poll(known)
  assert.deepEqual(after.outcomes.slice(1), [
    { ...refund, ...second, status: 'paid' },
    { ...refund, ...first },
  ])
})

test('a reply about another payment is refused', async () => {
  const ofOther = { payment_id: otherId }
  const refund = { id: 're_1', object: 'refund', amount: 1, currency: 'uah', status: 'succeeded' }
  const paths = [
    '/v1/checkout/sessions/cs_test_a1?expand[]=payment_intent',
    '/v1/payment_intents/pi_1',
  ]
  const cases = [
    [
      { [String(paths[0])]: session({ metadata: ofOther, client_reference_id: otherId }) },
      'cs_test_a1',
    ],
    [{ [String(paths[0])]: session({ id: 'cs_test_a2' }) }, 'cs_test_a1'],
    [{ [String(paths[1])]: intent({ metadata: ofOther }) }, null],
    [{ [String(paths[1])]: intent({ id: 'pi_2' }) }, null],
    [
      {
        [String(paths[1])]: intent(),
        '/v1/refunds?payment_intent=pi_1&limit=100': listOf([
          { ...refund, payment_intent: 'pi_2' },
        ]),
      },
      null,
    ],
  ] as const
  for (const [replies, checkoutReference] of cases) {
    const fields = { checkoutReference, providerReference: 'pi_1' }
    const { code } = await failureOf(pollOf(replies, fields))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(replies))
  }
})

test('a refund that names another payment is left to that one', async () => {
  const refund = { id: 're_1', object: 'refund', amount: 1, payment_intent: 'pi_1' }
  const listed = listOf([
    { ...refund, currency: 'uah', status: 'succeeded', metadata: { payment_id: otherId } },
  ])
  const replies = {
    '/v1/payment_intents/pi_1': intent(),
    '/v1/refunds?payment_intent=pi_1&limit=100': listed,
  }
  const { outcomes, listsRefunds } = await pollOf(replies, { providerReference: 'pi_1' })
  assert.deepEqual(
    outcomes.map(({ type }) => type),
    ['payment'],
  )
  // Whether it is the one that we asked for, nobody knows.
  assert.equal(listsRefunds, false)
})

test('what Stripe does not know by its own id is an error, and never absent', async () => {
  for (const fields of [
    { checkoutReference: 'cs_test_a1' },
    { providerReference: 'pi_1' },
    { providerReference: 'in_1' },
  ]) {
    assert.deepEqual(await failureOf(pollOf({}, fields)), {
      code: 'provider_refused',
      providerCode: 'resource_missing',
    })
  }
})

test('a poll ends when its time is over, and asks again where Stripe stumbles', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.misbehave('poll', 'never')
  const reason = new Error('time is over')
  const abort = new AbortController()
  started.standIn.whenSilent(() => abort.abort(reason))
  const late = started.poll(known, { signal: abort.signal })
  await assert.rejects(late, (error) => error === reason)
  started.standIn.misbehave('poll', 'garbled')
  assert.equal((await failureOf(started.poll(known))).code, 'provider_reply_invalid')
  started.standIn.misbehave('poll', 'wrong')
  assert.equal((await failureOf(started.poll(known))).code, 'provider_reply_invalid')
  started.standIn.misbehave('poll', 'refuse')
  assert.equal((await failureOf(started.poll(known))).code, 'provider_refused')
  started.standIn.misbehave('poll', 'down')
  assert.equal((await started.poll(known)).standing, 'open')
})
