import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { startApi } from './fixtures/api.ts'
import { paymentId } from './fixtures/events.ts'
import {
  chargeRequest,
  failureOf,
  refundRequest,
  sessionId,
  startOperations,
  stripePayment,
  type Started,
} from './fixtures/operations.ts'
import { stripe } from './index.ts'

/** Every operation that changes something, with what it is asked under. */
const changing: readonly (readonly [
  asking: 'checkout' | 'refund' | 'charge' | 'close',
  ask: (started: Started, signal: AbortSignal) => Promise<unknown>,
])[] = [
  ['checkout', (started, signal) => started.open({}, { signal })],
  ['refund', (started, signal) => started.refund(refundRequest(100n), { signal })],
  ['charge', (started, signal) => started.charge({}, { signal })],
  [
    'close',
    (started, signal) =>
      started.closeCheckout(stripePayment({ checkoutReference: sessionId }), { signal }),
  ],
]

async function prepare(asking: string): Promise<Started> {
  const started = await startOperations()
  if (asking === 'refund' || asking === 'close') await started.open()
  if (asking === 'refund') started.standIn.pay(paymentId)
  return started
}

for (const [asking, ask] of changing) {
  test(`${asking}: what Stripe refused is told by its code, and all else is not known`, async () => {
    for (const [misbehaviour, code] of [
      ['refuse', 'provider_refused'],
      ['down', 'provider_unreachable'],
      ['cut', 'provider_unreachable'],
      ['garbled', 'provider_reply_invalid'],
      ['wrong', 'provider_reply_invalid'],
    ] as const) {
      await using started = await prepare(asking)
      const before = started.changes().length
      started.standIn.misbehave(asking, misbehaviour)
      const failure = await failureOf(ask(started, AbortSignal.timeout(5000)))
      assert.equal(failure.code, code, misbehaviour)
      assert.equal(failure.providerCode !== undefined, misbehaviour === 'refuse')
      assert.equal(started.changes().length, before + 1, 'asked once')
      assert.deepEqual(started.standIn.faults, [])
    }
  })

  test(`${asking}: it ends when its time is over, and is never asked again`, async () => {
    for (const misbehaviour of ['never', 'lost', 'late'] as const) {
      await using started = await prepare(asking)
      const before = started.changes().length
      started.standIn.misbehave(asking, misbehaviour)
      const reason = new Error('over')
      const abort = new AbortController()
      const rejected = assert.rejects(ask(started, abort.signal), (error) => error === reason)
      // However slow the machine is: its time is over once Stripe has been asked.
      await until(() => started.changes().length > before, { what: `${misbehaviour}: it is asked` })
      abort.abort(reason)
      await rejected
      assert.equal(started.changes().length, before + 1)
    }
  })
}

test('conflicts and limits leave open what was done', async () => {
  const cases = [
    [400, { type: 'invalid_request_error', code: 'x' }, 'provider_refused', 'x'],
    [401, { type: 'invalid_request_error' }, 'provider_refused', 'invalid_request_error'],
    [402, { type: 'card_error', code: 'card_declined' }, 'provider_refused', 'card_declined'],
    [404, { type: 'invalid_request_error', code: 'gone' }, 'provider_refused', 'gone'],
    [400, { type: 'idempotency_error' }, 'provider_unreachable', 'idempotency_error'],
    [409, { type: 'idempotency_error', code: 'in_use' }, 'provider_unreachable', 'in_use'],
    [409, { type: 'invalid_request_error', code: 'x' }, 'provider_unreachable', 'x'],
    [424, { type: 'api_error', code: 'x' }, 'provider_unreachable', 'x'],
    [429, { type: 'invalid_request_error', code: 'x' }, 'provider_unreachable', 'x'],
    [500, { type: 'api_error' }, 'provider_unreachable', 'api_error'],
    [503, undefined, 'provider_unreachable', undefined],
    [403, undefined, 'provider_reply_invalid', undefined],
    [200, undefined, 'provider_reply_invalid', undefined],
  ] as const
  const { refund, chargeSavedCard } = stripe
  assert.ok(refund && chargeSavedCard)
  for (const [status, error, code, providerCode] of cases) {
    await using api = await startApi({
      '/v1/refunds': () => ({ status, body: { error } }),
      '/v1/payment_intents': () => ({ status, body: { error } }),
    })
    await using started = await startOperations()
    const context = started.context({ api_base: api.standIn.base })
    for (const ask of [
      () => refund(refundRequest(100n), context),
      () => chargeSavedCard(chargeRequest(), context),
    ]) {
      const failure = await failureOf(ask())
      assert.deepEqual(failure, { code, providerCode }, `${status} ${JSON.stringify(error)}`)
    }
    assert.equal(api.asked().length, 2)
  }
})

test('nobody listening, and a redirect to another host, are told as such', async () => {
  await using started = await startOperations()
  await using other = await startApi({})
  const location = `${other.standIn.base}/v1/checkout/sessions`
  await using moved = await startApi({
    '/v1/checkout/sessions': () => ({ status: 307, headers: { location }, body: {} }),
  })
  for (const api_base of ['http://127.0.0.1:9', moved.standIn.base]) {
    const failure = await failureOf(started.open({}, { api_base }))
    assert.equal(failure.code, 'provider_unreachable')
  }
  assert.deepEqual(other.asked(), [])
})
