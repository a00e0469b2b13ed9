import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { listOf, startApi } from './fixtures/api.ts'
import { event, intent, otherId, paymentId, session, type Fields } from './fixtures/events.ts'
import {
  chargedPayment,
  failureOf,
  idPart,
  intentId,
  now,
  nowSeconds,
  refundId,
  refundRequest,
  savedCard,
  sessionId,
  startOperations,
  stripePayment,
} from './fixtures/operations.ts'
import { stripe } from './index.ts'

const known = stripePayment({ checkoutReference: sessionId })
const stated = {
  type: 'payment',
  payment: { id: paymentId },
  amount: 4999n,
  currency: 'USD',
  live: false,
  checkoutReference: sessionId,
} as const
const charged = { ...stated, providerReference: intentId }
const undecided = (detail: string) => ({ type: 'ignored', reason: 'no_outcome', detail })

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
    outcomes: [{ ...charged, status: 'failed' }],
    standing: 'open',
    listsRefunds: false,
  })
  standIn.paySlowly(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [undecided('payment_status unpaid')],
    standing: 'settling',
    listsRefunds: false,
  })
  standIn.pay(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...charged, status: 'paid' }],
    standing: 'over',
    listsRefunds: true,
  })
  assert.deepEqual(standIn.faults, [])
})

test('a bank debit that bounces has failed, and nobody can pay any more', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.paySlowly(paymentId)
  started.standIn.decline(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...charged, status: 'failed' }],
    standing: 'over',
    listsRefunds: false,
  })
})

test('an expired checkout is canceled', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.expire(paymentId)
  assert.deepEqual(await started.poll(known), {
    outcomes: [{ ...stated, status: 'canceled' }],
    standing: 'over',
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
  assert.deepEqual(started.standIn.faults, [])
})

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
  assert.deepEqual(standIn.faults, [])
})

test('all refunds are told: ours with their id, those by hand, and those on their way', async () => {
  await using started = await startOperations({ mostPerPage: 1 })
  const { standIn } = started
  await started.open()
  standIn.pay(paymentId)
  await started.refund(refundRequest(1000n))
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
  assert.deepEqual(standIn.faults, [])
})

test('a checkout whose opening was never answered is found by our id, on whatever page', async () => {
  await using started = await startOperations({ mostPerPage: 1 })
  started.standIn.misbehave('checkout', 'cut')
  assert.equal((await failureOf(started.open())).code, 'provider_unreachable')
  await started.open({ payment: stripePayment({ id: otherId }) })
  const open = await started.poll()
  assert.deepEqual(open, {
    outcomes: [undecided('session status open')],
    standing: 'open',
    listsRefunds: false,
    checkout: {
      checkoutReference: sessionId,
      url: `https://checkout.stripe.com/c/pay/${sessionId}`,
      expiresAt: new Date((nowSeconds + 7200) * 1000),
    },
  })
  const lists = started.standIn.asked.map(({ request }) => decodeURIComponent(request.target))
  assert.deepEqual(lists.slice(2, 4), [
    `/v1/checkout/sessions?created[gte]=${nowSeconds - 300}&created[lte]=${nowSeconds + 300}&limit=100`,
    `/v1/checkout/sessions?created[gte]=${nowSeconds - 300}&created[lte]=${nowSeconds + 300}&limit=100` +
      `&starting_after=cs_test_${otherId.replaceAll('-', '')}`,
  ])
  started.standIn.pay(paymentId)
  const paid = await started.poll()
  assert.deepEqual(paid.outcomes, [{ ...charged, status: 'paid' }])
  assert.partialDeepStrictEqual(paid.checkout, {
    checkoutReference: sessionId,
    providerReference: intentId,
  })
  assert.deepEqual(started.standIn.faults, [])
})

test('what Stripe never got is absent', async () => {
  await using started = await startOperations()
  started.standIn.misbehave('checkout', 'lost')
  await assert.rejects(started.open({}, { signal: AbortSignal.timeout(50) }))
  await started.open({ payment: stripePayment({ id: otherId }) })
  for (const payment of [stripePayment(), chargedPayment()]) {
    assert.partialDeepStrictEqual(await started.poll(payment), {
      outcomes: [{ type: 'ignored', reason: 'no_outcome' }],
      standing: 'absent',
      listsRefunds: false,
    })
  }
})

test('a checkout that was made at another time is not looked for', async () => {
  await using started = await startOperations()
  await started.open()
  const { poll } = stripe
  assert.ok(poll)
  for (const [minutes, standing] of [
    [-6, 'absent'],
    [-4, 'open'],
    [4, 'open'],
    [6, 'absent'],
  ] as const) {
    const handedAt = new Date(now.getTime() + minutes * 60_000)
    const reply = await poll({ payment: stripePayment(), handedAt }, started.context())
    assert.equal(reply.standing, standing, String(minutes))
  }
})

test('a saved card’s charge is told by its intent, and found where it was not answered', async () => {
  await using started = await startOperations()
  started.standIn.misbehave('charge', 'cut')
  assert.equal((await failureOf(started.charge())).code, 'provider_unreachable')
  const { checkoutReference, ...ofIntent } = charged
  assert.ok(checkoutReference)
  assert.deepEqual(await started.poll(chargedPayment()), {
    outcomes: [{ ...ofIntent, status: 'paid' }],
    standing: 'over',
    listsRefunds: true,
    checkout: { providerReference: intentId },
  })
  const again = await started.poll(chargedPayment({ providerReference: intentId }))
  assert.deepEqual(again, {
    outcomes: [{ ...ofIntent, status: 'paid' }],
    standing: 'over',
    listsRefunds: true,
  })
  assert.deepEqual(started.standIn.faults, [])
})

test('a charge that its payer has to confirm is open, and one that was declined is over', async () => {
  await using started = await startOperations()
  const method = savedCard({ providerReference: 'pm_card_authenticationRequired' })
  await started.charge({ method, initiatedBy: 'customer' })
  const waiting = await started.poll(chargedPayment())
  assert.deepEqual(waiting.outcomes, [undecided('payment_intent status requires_action')])
  assert.equal(waiting.standing, 'open')
  assert.match(waiting.checkout?.url ?? '', /^https:\/\/hooks\.stripe\.com\//)
  started.standIn.decline(paymentId)
  const declined = await started.poll(chargedPayment({ providerReference: intentId }))
  assert.partialDeepStrictEqual(declined, { outcomes: [{ status: 'failed' }], standing: 'over' })
})

/** What a payment that began elsewhere is told with; the objects are those of the events' tests. */
async function pollOf(replies: Parameters<typeof startApi>[0], fields: Fields) {
  await using api = await startApi(replies)
  await using started = await startOperations()
  const payment = stripePayment({ currency: 'UAH', ...fields })
  const settings = { secret_key: 'sk_test_0123456789', api_base: api.standIn.base }
  // Awaited here: both servers end with this function.
  return await started.poll(payment, settings)
}

test('an intent of the merchant’s own is told in each state', async () => {
  const failed = { status: 'requires_payment_method', last_payment_error: { code: 'x' } }
  const cases = [
    [{ status: 'succeeded' }, 'paid', 'over'],
    [{ status: 'canceled' }, 'canceled', 'over'],
    [failed, 'failed', 'open'],
    [{ status: 'requires_payment_method' }, undefined, 'open'],
    [{ status: 'requires_confirmation' }, undefined, 'open'],
    [{ status: 'requires_action' }, undefined, 'open'],
    [{ status: 'processing' }, undefined, 'settling'],
    [{ status: 'requires_capture' }, undefined, 'settling'],
  ] as const
  for (const [fields, status, standing] of cases) {
    for (const metadata of [{}, { payment_id: paymentId }]) {
      const replies = {
        '/v1/payment_intents/pi_1': intent({ ...fields, livemode: false, metadata }),
        '/v1/refunds?payment_intent=pi_1&limit=100': listOf([]),
      }
      const reply = await pollOf(replies, { providerReference: 'pi_1' })
      const [outcome] = reply.outcomes
      assert.equal(reply.standing, standing, fields.status)
      assert.equal(reply.listsRefunds, status === 'paid')
      if (status === undefined) assert.partialDeepStrictEqual(outcome, { reason: 'no_outcome' })
      else
        assert.partialDeepStrictEqual(outcome, { status, payment: { id: paymentId }, live: false })
    }
  }
})

test('a checkout and its intent together tell how it stands', async () => {
  const open = { status: 'open', payment_status: 'unpaid' }
  const unpaid = { status: 'complete', payment_status: 'unpaid' }
  const error = { last_payment_error: { code: 'card_declined' } }
  const cases = [
    [open, null, undefined, 'open'],
    [open, { status: 'processing' }, undefined, 'settling'],
    [open, { status: 'requires_capture' }, undefined, 'settling'],
    [open, { status: 'succeeded' }, undefined, 'settling'],
    [open, { status: 'requires_action', ...error }, undefined, 'open'],
    [open, { status: 'requires_payment_method', ...error }, 'failed', 'open'],
    [unpaid, null, undefined, 'settling'],
    [unpaid, { status: 'requires_action' }, undefined, 'settling'],
    [unpaid, { status: 'requires_payment_method', ...error }, 'failed', 'over'],
    [unpaid, { status: 'canceled' }, 'canceled', 'over'],
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
    standing: 'over',
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
    standing: 'over',
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
    standing: 'over',
  })
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
    [{ [String(paths[0])]: session({ client_reference_id: otherId }) }, 'cs_test_a1'],
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
  const { outcomes } = await pollOf(replies, { providerReference: 'pi_1' })
  assert.deepEqual(
    outcomes.map(({ type }) => type),
    ['payment'],
  )
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

const invoice = (fields: Fields = {}): Fields => ({
  id: 'in_1',
  object: 'invoice',
  amount_due: 4999,
  amount_paid: 4999,
  attempt_count: 1,
  billing_reason: 'subscription_cycle',
  currency: 'uah',
  livemode: false,
  parent: { subscription_details: { metadata: { payment_id: otherId }, subscription: 'sub_1' } },
  status: 'paid',
  ...fields,
})
const payments = (...intents: readonly string[]) =>
  listOf(
    intents.map((id, index) => ({
      id: `inpay_${index}`,
      status: 'paid',
      payment: { type: 'payment_intent', payment_intent: id },
    })),
  )

test('a renewal is told by its invoice, as its callback tells it, with all its refunds', async () => {
  const refund = { id: 're_1', object: 'refund', amount: 99, currency: 'uah', status: 'succeeded' }
  const replies = {
    '/v1/invoices/in_1': invoice(),
    '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': payments('pi_1', 'pi_2'),
    '/v1/refunds?payment_intent=pi_1&limit=100': listOf([]),
    '/v1/refunds?payment_intent=pi_2&limit=100': listOf([{ ...refund, payment_intent: 'pi_2' }]),
  }
  const reply = await pollOf(replies, { providerReference: 'in_1' })
  const body = Buffer.from(JSON.stringify(event('invoice.paid', invoice())))
  await using started = await startOperations()
  const [told] = await stripe.interpret(parseJsonBody(body), started.context())
  assert.deepEqual(reply.outcomes[0], told)
  assert.partialDeepStrictEqual(reply, {
    outcomes: [
      { type: 'payment', status: 'paid', renews: { id: otherId } },
      { type: 'refund', payment: { id: paymentId }, refundReference: 're_1', amount: 99n },
    ],
    standing: 'over',
    listsRefunds: true,
  })
})

test('an invoice that is not paid is told as far as it is decided', async () => {
  const cases = [
    [{ status: 'draft' }, undefined, 'open'],
    [{ status: 'open', attempt_count: 0 }, undefined, 'open'],
    [{ status: 'open', attempt_count: 1 }, 'failed', 'open'],
    [{ status: 'void' }, undefined, 'over'],
    [{ status: 'uncollectible' }, undefined, 'over'],
  ] as const
  for (const [fields, status, standing] of cases) {
    const replies = {
      '/v1/invoices/in_1': invoice(fields),
      '/v1/invoice_payments?invoice=in_1&limit=100': listOf([]),
    }
    const reply = await pollOf(replies, { providerReference: 'in_1' })
    const expected = status === undefined ? { reason: 'no_outcome' } : { status }
    assert.partialDeepStrictEqual(reply.outcomes, [expected], JSON.stringify(fields))
    assert.equal(reply.standing, standing)
    assert.equal(reply.listsRefunds, false)
  }
})

test('the refunds of an invoice that was paid in another way too are not all known', async () => {
  const other = { id: 'inpay_9', status: 'paid', payment: { type: 'charge', charge: 'ch_1' } }
  const replies = {
    '/v1/invoices/in_1': invoice(),
    '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': listOf([other]),
  }
  assert.equal((await pollOf(replies, { providerReference: 'in_1' })).listsRefunds, false)
})

test('a poll ends when its time is over, and asks again where Stripe stumbles', async () => {
  await using started = await startOperations()
  await started.open()
  started.standIn.misbehave('poll', 'never')
  const reason = new Error('over')
  const abort = new AbortController()
  setTimeout(() => abort.abort(reason), 100)
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
