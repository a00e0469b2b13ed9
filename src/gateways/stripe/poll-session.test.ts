import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf } from '../../../test/gateways/stripe/api.ts'
import { intent, paymentId, session } from '../../../test/gateways/stripe/events.ts'
import { startOperations } from '../../../test/gateways/stripe/operations.ts'
import {
  charged,
  known,
  payments,
  pollOf,
  stated,
  undecided,
} from '../../../test/gateways/stripe/polling.ts'
import { stripe } from './index.ts'

test('each state of a checkout is told as its callbacks tell it', async () => {
  await using started = await startOperations()
  const { standIn } = started
  await started.open()
  assert.deepEqual(await started.poll(known), {
    outcomes: [undecided('session status open')],
    standing: 'open',
    listsRefunds: false,
  })
  standIn.decline(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...charged, status: 'failed', declineCode: 'insufficient_funds' }],
    standing: 'open',
    listsRefunds: false,
  })
  standIn.paySlowly(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [undecided('payment_status unpaid')],
    standing: 'undecided',
    listsRefunds: false,
  })
  standIn.pay(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...charged, status: 'paid' }],
    standing: 'paid',
    listsRefunds: true,
  })
})

test('a bank debit that bounces has failed, and nobody can pay any more', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.paySlowly(paymentId)
  started.standIn.decline(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...charged, status: 'failed', declineCode: 'insufficient_funds' }],
    standing: 'unpaid',
    listsRefunds: false,
  })
})

test('an expired checkout is canceled', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.expire(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...stated, status: 'canceled' }],
    standing: 'unpaid',
    listsRefunds: false,
  })
})

test('poll and callback of a paid checkout that saved its card say the same', async () => {
  await using started = await startOperations()
  await started.open({ saveCard: true })
  started.standIn.pay(paymentId)
  const { outcomes } = await started.poll(known)
  assert.deepEqual(
    outcomes.map(({ type }) => type),
    ['payment', 'payment_method'],
  )
  const callback = started.standIn.paymentCallback(paymentId)
  const { credentials, log, signal } = started.context()
  const request = { headers: callback.headers, body: Buffer.from(callback.body) }
  assert.deepEqual(await stripe.verify(request, credentials, new Date()), { valid: true })
  const payload = stripe.parse(request)
  assert.deepEqual(await stripe.interpret(payload, { credentials, log, signal }), outcomes)
})

test('a checkout and its intent together tell how it stands', async () => {
  const open = { status: 'open', payment_status: 'unpaid' }
  const unpaid = { status: 'complete', payment_status: 'unpaid' }
  const error = { last_payment_error: { code: 'card_declined' } }
  const cases = [
    [open, null, undefined, 'open'],
    [open, { status: 'processing' }, undefined, 'undecided'],
    [open, { status: 'requires_capture' }, undefined, 'undecided'],
    [open, { status: 'succeeded' }, undefined, 'undecided'],
    [open, { status: 'requires_action', ...error }, undefined, 'open'],
    [open, { status: 'requires_payment_method', ...error }, 'failed', 'open'],
    [unpaid, null, undefined, 'undecided'],
    [unpaid, { status: 'requires_action' }, undefined, 'undecided'],
    [unpaid, { status: 'requires_payment_method', ...error }, 'failed', 'unpaid'],
    [unpaid, { status: 'canceled' }, 'canceled', 'unpaid'],
    [unpaid, { status: 'something_new' }, undefined, 'unclear'],
    [open, { status: 'canceled' }, undefined, 'open'],
    [open, { status: 'something_new' }, undefined, 'unclear'],
    [{ ...open, payment_status: 'paid' }, null, undefined, 'unclear'],
    [{ ...open, payment_status: 'something_new' }, null, undefined, 'unclear'],
    [{ ...unpaid, status: 'something_new' }, null, undefined, 'unclear'],
    [{ ...unpaid, status: 'expired' }, null, 'canceled', 'unpaid'],
    [{ ...unpaid, status: 'expired' }, { status: 'requires_action' }, 'canceled', 'unpaid'],
    [{ ...unpaid, status: 'expired' }, { status: 'succeeded' }, undefined, 'unclear'],
    [{ ...unpaid, status: 'expired' }, { status: 'processing' }, undefined, 'unclear'],
    [{ payment_status: 'paid', status: 'expired' }, null, undefined, 'unclear'],
    [{ payment_status: 'something_new', status: 'complete' }, null, undefined, 'unclear'],
  ] as const
  for (const [fields, paying, status, standing] of cases) {
    const payment_intent = paying && intent(paying)
    const object = session({ ...fields, payment_intent })
    const replies = { '/v1/checkout/sessions/cs_test_a1?expand[]=payment_intent': object }
    const reply = await pollOf(replies, { checkoutReference: 'cs_test_a1' })
    const expected = status === undefined ? { reason: 'no_outcome' } : { status }
    const label = `${fields.status} ${paying?.status}`
    assert.partialDeepStrictEqual(reply.outcomes, [expected], label)
    assert.equal(reply.standing, standing, label)
    assert.equal(reply.listsRefunds, false, label)
  }
})

test('checkouts of other kinds are told as their callbacks tell them', async () => {
  const of = '/v1/checkout/sessions/cs_test_a1?expand[]=payment_intent'
  const known = { checkoutReference: 'cs_test_a1' }
  const nothing = session({
    payment_status: 'no_payment_required',
    amount_total: 0,
    payment_intent: null,
  })
  assert.partialDeepStrictEqual(await pollOf({ [of]: nothing }, known), {
    outcomes: [{ status: 'paid', amount: 0n }],
    standing: 'paid',
    listsRefunds: true,
  })
  const subscription = session({ mode: 'subscription', payment_intent: null, invoice: 'in_1' })
  const refund = { id: 're_1', object: 'refund', amount: 99, currency: 'uah', status: 'succeeded' }
  const replies = {
    [of]: subscription,
    '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': payments('pi_1'),
    '/v1/refunds?payment_intent=pi_1&limit=100': listOf([{ ...refund, payment_intent: 'pi_1' }]),
  }
  assert.partialDeepStrictEqual(await pollOf(replies, known), {
    outcomes: [
      { status: 'paid', providerReference: 'in_1' },
      { type: 'refund', amount: 99n },
    ],
    standing: 'paid',
    listsRefunds: true,
  })
  const setup = session({ mode: 'setup', payment_intent: null, setup_intent: 'seti_1' })
  const saved = {
    id: 'seti_1',
    object: 'setup_intent',
    status: 'succeeded',
    payment_method: 'pm_1',
  }
  const ofSetup = { [of]: setup, '/v1/setup_intents/seti_1?expand[]=payment_method': saved }
  assert.partialDeepStrictEqual(await pollOf(ofSetup, known), {
    outcomes: [{ type: 'payment_method', reference: 'pm_1' }],
    standing: 'unclear',
  })
})
