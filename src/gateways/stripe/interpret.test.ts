import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capturedLog } from '../../../test/support/captured-log.ts'
import { interpretStripe } from './interpret.ts'
import {
  paymentId,
  otherId,
  session,
  intent,
  event,
  interpretText,
  interpret,
  completed,
  succeeded,
  fromSession,
  fromIntent,
  assertIgnored,
  contextOf,
} from '../../../test/gateways/stripe/events.ts'

test('each handled event becomes its outcome, with everything that it states', async () => {
  const unpaid = { payment_status: 'unpaid' }
  const expired = { ...unpaid, status: 'expired', payment_intent: null }
  const { providerReference: _, ...withoutIntent } = fromSession
  const cases = [
    ['checkout.session.completed', session(), { ...fromSession, status: 'paid' }],
    ['checkout.session.async_payment_succeeded', session(), { ...fromSession, status: 'paid' }],
    [
      'checkout.session.async_payment_failed',
      session(unpaid),
      { ...fromSession, status: 'failed' },
    ],
    ['checkout.session.expired', session(expired), { ...withoutIntent, status: 'canceled' }],
    ['payment_intent.succeeded', intent(), { ...fromIntent, status: 'paid' }],
    [
      'payment_intent.payment_failed',
      intent({ status: 'requires_payment_method', amount_received: 0 }),
      { ...fromIntent, status: 'failed' },
    ],
    [
      'payment_intent.canceled',
      intent({ status: 'canceled', amount_received: 0 }),
      { ...fromIntent, status: 'canceled' },
    ],
  ] as const
  for (const [type, object, outcome] of cases) {
    assert.deepEqual(await interpret(event(type, object)), outcome, type)
  }
})

test('live mode and the connected account are stated as the event has them', async () => {
  const live = event('payment_intent.succeeded', intent(), { livemode: true, account: 'acct_1' })
  const outcome = { ...fromIntent, status: 'paid', live: true, merchantAccount: 'acct_1' }
  assert.deepEqual(await interpret(live), outcome)
  const own = event('payment_intent.succeeded', intent(), { account: null })
  assert.deepEqual(await interpret(own), { ...fromIntent, status: 'paid' })
  const { livemode: _, ...unsaid } = event('payment_intent.succeeded', intent())
  const { live: __, ...outcomeUnsaid } = fromIntent
  assert.deepEqual(await interpret(unsaid), { ...outcomeUnsaid, status: 'paid' })
})

test('a paid intent counts what was received, not what was asked for', async () => {
  assert.deepEqual(await succeeded({ amount_received: 4000 }), {
    ...fromIntent,
    status: 'paid',
    amount: 4000n,
  })
})

test('nothing to pay is paid with 0 and with no other amount', async () => {
  const free = { payment_status: 'no_payment_required' }
  const { amount: _, ...withoutAmount } = fromSession
  assert.deepEqual(await completed({ ...free, amount_total: 0 }), {
    ...fromSession,
    status: 'paid',
    amount: 0n,
  })
  for (const amount of [4999, null, '0']) {
    assert.deepEqual(await completed({ ...free, amount_total: amount }), {
      ...withoutAmount,
      status: 'paid',
    })
  }
})

test('what leaves the result open is no_outcome and never paid', async () => {
  assertIgnored(
    await completed({ payment_status: 'unpaid' }),
    'no_outcome',
    'payment_status unpaid',
  )
  assertIgnored(await completed({ payment_status: 'PAID' }), 'no_outcome', 'payment_status PAID')
  assertIgnored(await completed({ payment_status: null }), 'no_outcome', 'payment_status missing')
  assertIgnored(await completed({ payment_status: 'toString' }), 'no_outcome')
  for (const status of ['unpaid', 'no_payment_required', 'brand_new']) {
    const object = session({ payment_status: status })
    const late = event('checkout.session.async_payment_succeeded', object)
    assertIgnored(await interpret(late), 'no_outcome', `payment_status ${status}`)
  }
  const open = session({ status: 'open', payment_status: 'unpaid' })
  assertIgnored(
    await interpret(event('checkout.session.expired', open)),
    'no_outcome',
    'status open',
  )
  assertIgnored(await succeeded({ status: 'processing' }), 'no_outcome', 'status processing')
  assertIgnored(await succeeded({ status: undefined }), 'no_outcome', 'status missing')
  assertIgnored(await interpret(event('payment_intent.canceled', intent())), 'no_outcome')
  for (const type of ['payment_intent.processing', 'payment_intent.requires_action']) {
    assertIgnored(
      await interpret(event(type, intent({ status: 'processing' }))),
      'no_outcome',
      type,
    )
  }
})

test('metadata.payment_id names the payment, whatever client_reference_id says', async () => {
  const paid = { ...fromSession, status: 'paid' }
  for (const client of [null, undefined, paymentId, otherId, 'customer-7', '', 7]) {
    assert.deepEqual(await completed({ client_reference_id: client }), paid)
  }
})

test('without metadata the checkout names the payment, and client_reference_id claims to', async () => {
  const { checkoutReference } = fromSession
  const named = { ...fromSession, status: 'paid', payment: { checkoutReference } }
  for (const metadata of [{}, null, undefined, { payment_id: null }, { order: '7' }]) {
    for (const id of [paymentId, 'order-7', '']) {
      assert.deepEqual(await completed({ metadata, client_reference_id: id }), {
        ...named,
        claimed: { id, by: 'payer' },
      })
    }
  }
})

test('an object without a reference of ours is no_outcome, such as the intent of an invoice', async () => {
  for (const metadata of [{}, null, undefined, []]) {
    assertIgnored(await succeeded({ metadata }), 'no_outcome', 'no payment reference')
    const stranger = { metadata, client_reference_id: null }
    assertIgnored(await completed(stranger), 'no_outcome', 'no payment reference')
  }
})

test('a reference that is no UUID is invalid_reference', async () => {
  const texts = ['', 'order-7', `{${paymentId}}`, `urn:uuid:${paymentId}`]
  for (const id of [...texts, ` ${paymentId}`, `${paymentId}\n`, paymentId.replaceAll('-', '')]) {
    const detail = id.replaceAll('\n', '\ufffd')
    assertIgnored(await succeeded({ metadata: { payment_id: id } }), 'invalid_reference', detail)
  }
  for (const id of [7, true, [paymentId], { id: paymentId }]) {
    assertIgnored(
      await succeeded({ metadata: { payment_id: id } }),
      'invalid_reference',
      'not a text',
    )
  }
})

test('all other types, and sessions of an unknown mode, are unhandled_event', async () => {
  for (const mode of ['brand_new', 'PAYMENT', null]) {
    const detail = `checkout.session.completed, mode ${mode ?? 'missing'}`
    assertIgnored(await completed({ mode }), 'unhandled_event', detail)
  }
  const setup = event('checkout.session.expired', session({ mode: 'setup' }))
  const detail = 'checkout.session.expired, mode setup'
  assertIgnored(await interpret(setup), 'unhandled_event', detail)
  const types = ['charge.succeeded', 'invoice.upcoming', 'customer.created', 'toString']
  for (const type of [...types, '__proto__', '']) {
    assertIgnored(await interpret(event(type, { id: 'x' })), 'unhandled_event', type)
    assertIgnored(await interpret(event(type, null)), 'unhandled_event', type)
  }
  const long = event('x'.repeat(10_240), {})
  assertIgnored(await interpret(long), 'unhandled_event', `${'x'.repeat(99)}…`)
})

test('what Stripe says of things that change nothing here is no_outcome', async () => {
  const types = [
    'payment_intent.processing',
    'payment_intent.requires_action',
    'payment_intent.amount_capturable_updated',
    'setup_intent.requires_action',
    'setup_intent.setup_failed',
    'payment_method.automatically_updated',
    'invoice.payment_succeeded',
    'invoice.payment_action_required',
    'invoice_payment.paid',
  ]
  for (const type of types) {
    assertIgnored(await interpret(event(type, intent())), 'no_outcome', type)
  }
})

test('a thin event carries no object and is unhandled_event', async () => {
  const thin = { id: 'evt_1', object: 'v2.core.event', type: 'v1.invoice.paid', livemode: false }
  assertIgnored(await interpret(thin), 'unhandled_event', 'v1.invoice.paid')
})

test('an event of another API version is read all the same, and once a call told', async () => {
  for (const [version, warnings] of [
    ['2031-01-01.future', 1],
    ['2026-10-28.endive', 0],
    [null, 0],
  ] as const) {
    const { log, lines } = capturedLog()
    const newer = event('payment_intent.succeeded', intent({ brand_new: {} }), {
      api_version: version,
      brand_new: [],
    })
    const outcome = await interpret(newer, contextOf({}, { log }))
    assert.deepEqual(outcome, { ...fromIntent, status: 'paid' })
    assert.equal(lines.length, warnings)
    assert.ok(lines.every((line) => line['level'] === 40 && line['apiVersion'] === version))
  }
})

test('a handled event without a usable object is malformed_payload, and the field is named', async () => {
  const type = 'payment_intent.succeeded'
  for (const object of [undefined, null, [], [intent()], 'pi_1', 1]) {
    assertIgnored(await interpret(event(type, object)), 'malformed_payload', 'data.object')
  }
  for (const data of [undefined, null, [], 'x']) {
    assertIgnored(
      await interpret({ ...event(type, intent()), data }),
      'malformed_payload',
      'data.object',
    )
  }
  const cases = [
    [event(type, session()), 'data.object.object'],
    [event(type, intent({ id: null })), 'data.object.id'],
    [event(type, intent({ id: 'cs_1' })), 'data.object.id'],
    [event(type, intent({ id: `pi_${'x'.repeat(10_000)}` })), 'data.object.id'],
    [
      event('checkout.session.completed', session({ payment_intent: { id: 'pi_1' } })),
      'data.object.payment_intent',
    ],
    [event(type, intent(), { livemode: 'true' }), 'livemode'],
    [event(type, intent(), { account: 7 }), 'account'],
    [event(type, intent(), { account: 'cus_1' }), 'account'],
    [event(type, intent(), { object: 'charge' }), 'object'],
    [event(type, intent(), { type: 7 }), 'type'],
    [null, 'body'],
    [true, 'body'],
    [1, 'body'],
    ['x', 'body'],
    [[], 'body'],
    [{}, 'type'],
  ] as const
  for (const [value, field] of cases)
    assertIgnored(await interpret(value), 'malformed_payload', field)
})

test('a body that cannot be read is unreadable_payload with the reason', async () => {
  const cases = [
    ['', 'empty'],
    ['not json', 'invalid_json'],
    ['{"type":"a","type":"b"}', 'duplicate_key'],
    ['['.repeat(1000), 'too_deep'],
  ] as const
  for (const [text, reason] of cases)
    assertIgnored(await interpretText(text), 'unreadable_payload', reason)
  const form = { kind: 'form', text: '{}', value: new Map(), exact: false } as const
  assert.deepEqual(await interpretStripe(form, contextOf()), [
    { type: 'ignored', reason: 'malformed_payload', detail: 'body' },
  ])
})
