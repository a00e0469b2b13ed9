import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IgnoredReason } from '../../payments/outcome.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { interpretStripe } from './interpret.ts'

const paymentId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01'
const otherId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'

type Fields = Readonly<Record<string, unknown>>

const session = (fields: Fields = {}): Fields => ({
  id: 'cs_test_a1',
  object: 'checkout.session',
  amount_total: 4999,
  client_reference_id: paymentId,
  currency: 'uah',
  metadata: { payment_id: paymentId },
  mode: 'payment',
  payment_intent: 'pi_1',
  payment_status: 'paid',
  status: 'complete',
  ...fields,
})
const intent = (fields: Fields = {}): Fields => ({
  id: 'pi_1',
  object: 'payment_intent',
  amount: 4999,
  amount_received: 4999,
  currency: 'uah',
  metadata: { payment_id: paymentId },
  status: 'succeeded',
  ...fields,
})
const event = (type: string, object: unknown, fields: Fields = {}) => ({
  id: 'evt_1',
  object: 'event',
  data: { object },
  livemode: false,
  type,
  ...fields,
})

const interpretText = (text: string) => interpretStripe(parseJsonBody(Buffer.from(text)))
const interpret = (value: unknown) => interpretText(JSON.stringify(value))

const completed = (fields: Fields = {}) =>
  interpret(event('checkout.session.completed', session(fields)))
const succeeded = (fields: Fields = {}) =>
  interpret(event('payment_intent.succeeded', intent(fields)))

const fromSession = {
  type: 'payment',
  payment: { id: paymentId },
  amount: 4999n,
  currency: 'UAH',
  live: false,
  checkoutReference: 'cs_test_a1',
  providerReference: 'pi_1',
} as const
const fromIntent = {
  type: 'payment',
  payment: { id: paymentId },
  amount: 4999n,
  currency: 'UAH',
  live: false,
  providerReference: 'pi_1',
} as const

function assertIgnored(outcome: unknown, reason: IgnoredReason, detail?: string): void {
  const { detail: found, ...rest } = outcome as { detail?: string }
  assert.deepEqual(rest, { type: 'ignored', reason })
  if (detail !== undefined) assert.equal(found, detail)
}

test('each handled event becomes its outcome, with everything that it states', () => {
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
    assert.deepEqual(interpret(event(type, object)), outcome, type)
  }
})

test('live mode and the connected account are stated as the event has them', () => {
  const live = event('payment_intent.succeeded', intent(), { livemode: true, account: 'acct_1' })
  const outcome = { ...fromIntent, status: 'paid', live: true, merchantAccount: 'acct_1' }
  assert.deepEqual(interpret(live), outcome)
  const own = event('payment_intent.succeeded', intent(), { account: null })
  assert.deepEqual(interpret(own), { ...fromIntent, status: 'paid' })
  const { livemode: _, ...unsaid } = event('payment_intent.succeeded', intent())
  const { live: __, ...outcomeUnsaid } = fromIntent
  assert.deepEqual(interpret(unsaid), { ...outcomeUnsaid, status: 'paid' })
})

test('a paid intent counts what was received, not what was asked for', () => {
  assert.deepEqual(succeeded({ amount_received: 4000 }), {
    ...fromIntent,
    status: 'paid',
    amount: 4000n,
  })
})

test('nothing to pay is paid with 0 and with no other amount', () => {
  const free = { payment_status: 'no_payment_required' }
  const { amount: _, ...withoutAmount } = fromSession
  assert.deepEqual(completed({ ...free, amount_total: 0 }), {
    ...fromSession,
    status: 'paid',
    amount: 0n,
  })
  for (const amount of [4999, null, '0']) {
    assert.deepEqual(completed({ ...free, amount_total: amount }), {
      ...withoutAmount,
      status: 'paid',
    })
  }
})

test('what leaves the result open is no_outcome and never paid', () => {
  assertIgnored(completed({ payment_status: 'unpaid' }), 'no_outcome', 'payment_status unpaid')
  assertIgnored(completed({ payment_status: 'PAID' }), 'no_outcome', 'payment_status PAID')
  assertIgnored(completed({ payment_status: null }), 'no_outcome', 'payment_status missing')
  assertIgnored(completed({ payment_status: 'toString' }), 'no_outcome')
  for (const status of ['unpaid', 'no_payment_required', 'brand_new']) {
    const object = session({ payment_status: status })
    const late = event('checkout.session.async_payment_succeeded', object)
    assertIgnored(interpret(late), 'no_outcome', `payment_status ${status}`)
  }
  const open = session({ status: 'open', payment_status: 'unpaid' })
  assertIgnored(interpret(event('checkout.session.expired', open)), 'no_outcome', 'status open')
  assertIgnored(succeeded({ status: 'processing' }), 'no_outcome', 'status processing')
  assertIgnored(succeeded({ status: undefined }), 'no_outcome', 'status missing')
  assertIgnored(interpret(event('payment_intent.canceled', intent())), 'no_outcome')
  for (const type of ['payment_intent.processing', 'payment_intent.requires_action']) {
    assertIgnored(interpret(event(type, intent({ status: 'processing' }))), 'no_outcome', type)
  }
})

test('the reference is metadata.payment_id, else client_reference_id', () => {
  const paid = { ...fromSession, status: 'paid' }
  assert.deepEqual(completed({ client_reference_id: null }), paid)
  for (const metadata of [{}, null, undefined, { payment_id: null }, { order: '7' }]) {
    assert.deepEqual(completed({ metadata }), paid)
  }
})

test('an object without a reference of ours is no_outcome, such as the intent of an invoice', () => {
  for (const metadata of [{}, null, undefined, []]) {
    assertIgnored(succeeded({ metadata }), 'no_outcome', 'no payment reference')
    const stranger = { metadata, client_reference_id: null }
    assertIgnored(completed(stranger), 'no_outcome', 'no payment reference')
  }
})

test('a reference that is no canonical UUID is invalid_reference', () => {
  const upperCase = paymentId.toUpperCase()
  const texts = ['', 'order-7', upperCase, `{${paymentId}}`, `urn:uuid:${paymentId}`]
  for (const id of [...texts, ` ${paymentId}`, `${paymentId}\n`, paymentId.replaceAll('-', '')]) {
    const detail = id.replaceAll('\n', '\ufffd')
    assertIgnored(succeeded({ metadata: { payment_id: id } }), 'invalid_reference', detail)
    assertIgnored(completed({ metadata: {}, client_reference_id: id }), 'invalid_reference', detail)
  }
  for (const id of [7, true, [paymentId], { id: paymentId }]) {
    assertIgnored(succeeded({ metadata: { payment_id: id } }), 'invalid_reference', 'not a text')
  }
})

test('two references that disagree are invalid_reference', () => {
  const disagreement = 'metadata.payment_id and client_reference_id disagree'
  for (const client of [otherId, 'customer-7', '']) {
    assertIgnored(completed({ client_reference_id: client }), 'invalid_reference', disagreement)
  }
})

test('sessions that set up a card or a subscription, and all other types, are unhandled_event', () => {
  for (const mode of ['setup', 'subscription']) {
    const detail = `checkout.session.completed, mode ${mode}`
    assertIgnored(completed({ mode }), 'unhandled_event', detail)
  }
  const types = ['charge.refunded', 'refund.created', 'invoice.paid', 'toString', '__proto__', '']
  for (const type of types) {
    assertIgnored(interpret(event(type, { id: 'x' })), 'unhandled_event', type)
    assertIgnored(interpret(event(type, null)), 'unhandled_event', type)
  }
  assertIgnored(interpret(event('x'.repeat(10_240), {})), 'unhandled_event', 'x'.repeat(100))
})

test('a thin event carries no object and is unhandled_event', () => {
  const thin = { id: 'evt_1', object: 'v2.core.event', type: 'v1.invoice.paid', livemode: false }
  assertIgnored(interpret(thin), 'unhandled_event', 'v1.invoice.paid')
})

test('an event of a newer API version is read all the same', () => {
  const newer = event('payment_intent.succeeded', intent({ brand_new: {} }), {
    api_version: '2031-01-01.future',
    brand_new: [],
  })
  assert.deepEqual(interpret(newer), { ...fromIntent, status: 'paid' })
})

test('a handled event without a usable object is malformed_payload, and the field is named', () => {
  const type = 'payment_intent.succeeded'
  for (const object of [undefined, null, [], [intent()], 'pi_1', 1]) {
    assertIgnored(interpret(event(type, object)), 'malformed_payload', 'data.object')
  }
  for (const data of [undefined, null, [], 'x']) {
    assertIgnored(interpret({ ...event(type, intent()), data }), 'malformed_payload', 'data.object')
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
    [event(type, intent(), { object: 'charge' }), 'object'],
    [event(type, intent(), { type: 7 }), 'type'],
    [null, 'body'],
    [true, 'body'],
    [1, 'body'],
    ['x', 'body'],
    [[], 'body'],
    [{}, 'type'],
  ] as const
  for (const [value, field] of cases) assertIgnored(interpret(value), 'malformed_payload', field)
})

test('a body that cannot be read is unreadable_payload with the reason', () => {
  const cases = [
    ['', 'empty'],
    ['not json', 'invalid_json'],
    ['{"type":"a","type":"b"}', 'duplicate_key'],
    ['['.repeat(1000), 'too_deep'],
  ] as const
  for (const [text, reason] of cases)
    assertIgnored(interpretText(text), 'unreadable_payload', reason)
  const form = { kind: 'form', text: '{}', value: new Map(), exact: false } as const
  assertIgnored(interpretStripe(form), 'malformed_payload', 'body')
})

test('an amount that is no plain whole number is left out, so that it settles nothing', () => {
  const { amount: _, ...withoutAmount } = fromIntent
  const lexemes = ['4999.0', '4.999e3', '49990e-1', '-1', '-0', '1e400', '9007199254740992']
  for (const lexeme of [...lexemes, '"4999"', 'null', '[4999]', '9'.repeat(30)]) {
    const text = JSON.stringify(event('payment_intent.succeeded', intent()))
    const changed = text.replace('"amount_received":4999', `"amount_received":${lexeme}`)
    assert.notEqual(changed, text)
    assert.deepEqual(interpretText(changed), { ...withoutAmount, status: 'paid' }, lexeme)
  }
  assert.deepEqual(succeeded({ amount_received: undefined }), { ...withoutAmount, status: 'paid' })
})

test('minor units are taken as they are, with no exponent applied', () => {
  const cases = [
    ['jpy', 5000, 'JPY', 5000n],
    ['kwd', 12340, 'KWD', 12340n],
    ['usd', 0, 'USD', 0n],
    ['uah', Number.MAX_SAFE_INTEGER, 'UAH', 9007199254740991n],
  ] as const
  for (const [currency, received, code, amount] of cases) {
    const outcome = succeeded({ currency, amount_received: received })
    assert.deepEqual(outcome, { ...fromIntent, status: 'paid', currency: code, amount })
  }
})

test('a currency in any other spelling than Stripe has is left out', () => {
  const { currency: _, ...withoutCurrency } = fromIntent
  const spellings = [
    'UAH',
    'Uah',
    ' uah',
    'uah ',
    'uah\u200b',
    'ｕａｈ',
    'uaı',
    'uſd',
    '980',
    'ua',
    '',
  ]
  for (const currency of [...spellings, null, 980, ['uah']]) {
    const outcome = succeeded({ currency })
    assert.deepEqual(outcome, { ...withoutCurrency, status: 'paid' }, String(currency))
  }
})
