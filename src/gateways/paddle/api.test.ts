import assert from 'node:assert/strict'
import { isQuittanceError } from '../../kernel/errors.ts'
import { test, type TestContext } from 'node:test'
import { startStandIn, type StandIn } from '../../../test/support/stand-in.ts'
import type { Outcome } from '../../payments/outcome.ts'
import {
  contextOf,
  customerId,
  event,
  interpret,
  methodId,
  paidOutcome,
  paymentId,
  renewal,
  renewedOutcome,
  savedMethod,
  subscriptionId,
  totals,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'

type Answer = Parameters<typeof startStandIn>[0]

async function standIn(t: TestContext, answer: Answer): Promise<StandIn> {
  const started = await startStandIn(answer)
  t.after(() => started.close())
  return started
}

const entity = (fields: Fields) => ({ body: { data: fields, meta: { request_id: 'x' } } })
const renewed = event('transaction.completed', renewal())
const withoutTotals = event('transaction.paid', transaction({ details: null }))
const fullDetails = {
  kind: 'card',
  brand: 'visa',
  lastFour: '4242',
  expiryMonth: 11,
  expiryYear: 2031,
}
const card = { type: 'visa', last4: '4242', expiry_month: 11, expiry_year: 2031 }
const saved = event('payment_method.saved', savedMethod())

test("a renewal without a reference is looked up at its subscription, with Paddle's headers", async (t) => {
  const custom = { custom_data: { payment_id: paymentId } }
  const api = await standIn(t, () => entity({ id: subscriptionId, ...custom }))
  assert.deepEqual(await interpret(renewed, contextOf(api.base)), renewedOutcome)
  assert.equal(api.requests.length, 1)
  const [request] = api.requests
  assert.equal(request?.method, 'GET')
  assert.equal(request?.target, `/subscriptions/${subscriptionId}`)
  assert.equal(request?.headers.authorization, 'Bearer pdl_sdbx_apikey_interpret_test')
  assert.equal(request?.headers['paddle-version'], '1')
})

test('a renewal that carries its reference is not looked up', async (t) => {
  const api = await standIn(t, () => undefined)
  const own = renewal({ custom_data: { payment_id: paymentId } })
  const outcome = await interpret(event('transaction.completed', own), contextOf(api.base))
  assert.deepEqual(outcome, renewedOutcome)
  assert.deepEqual(api.requests, [])
})

test('a subscription without a reference, or that is gone, names the renewal alone', async (t) => {
  const { claimed: _, ...unclaimed } = renewedOutcome
  const replies = [entity({ id: subscriptionId, custom_data: null }), undefined]
  const api = await standIn(t, () => replies.shift())
  for (let left = replies.length; left > 0; left -= 1) {
    assert.deepEqual(await interpret(renewed, contextOf(api.base)), unclaimed)
  }
  assert.equal(api.requests.length, 2)
})

test('a renewal whose subscription cannot be looked up is told all the same, with the failure', async (t) => {
  const { claimed: _, ...unclaimed } = renewedOutcome
  const api = await standIn(t, () => ({ status: 403, body: {} }))
  const outcome = await interpret(renewed, contextOf(api.base))
  assert.ok(outcome.type === 'payment')
  const { unanswered, ...told } = outcome
  assert.deepEqual(told, unclaimed)
  assert.ok(isQuittanceError(unanswered) && unanswered.code === 'provider_refused')
})

test('totals that an event lacks are read from the transaction', async (t) => {
  const details = { totals: totals({ total: '7500', currency_code: 'EUR' }) }
  const api = await standIn(t, () => entity({ id: transactionId, details }))
  const fetched = { ...paidOutcome, amount: 7500n, currency: 'EUR' }
  const lacking = [null, { totals: null }, { totals: totals({ total: null }) }]
  for (const own of [...lacking, { totals: totals({ currency_code: null }) }]) {
    const paid = event('transaction.paid', transaction({ details: own }))
    assert.deepEqual(await interpret(paid, contextOf(api.base)), fetched)
  }
  const targets = api.requests.map(({ target }) => target)
  assert.deepEqual(targets, Array(4).fill(`/transactions/${transactionId}`))
})

test('an event that states its totals is not looked up', async (t) => {
  const api = await standIn(t, () => undefined)
  const context = contextOf(api.base)
  const paid = event('transaction.paid', transaction())
  assert.deepEqual(await interpret(paid, context), paidOutcome)
  assert.deepEqual(api.requests, [])
})

test('a transaction that is gone or has no totals either leaves the amount out', async (t) => {
  const { amount: _, currency: __, ...withoutMoney } = paidOutcome
  const replies = [undefined, entity({ id: transactionId })]
  const api = await standIn(t, () => replies.shift())
  for (let left = replies.length; left > 0; left -= 1) {
    assert.deepEqual(await interpret(withoutTotals, contextOf(api.base)), withoutMoney)
  }
})

const detailsOf = (outcome: Outcome) =>
  outcome.type === 'payment_method' ? outcome.details : assert.fail(outcome.type)

test('a saved card is looked up for what may be shown of it', async (t) => {
  const api = await standIn(t, () => entity({ id: methodId, type: 'card', card }))
  assert.deepEqual(detailsOf(await interpret(saved, contextOf(api.base))), fullDetails)
  const [request] = api.requests
  assert.equal(request?.target, `/customers/${customerId}/payment-methods/${methodId}`)
})

test('a card that is gone already keeps what the event states of it', async (t) => {
  const api = await standIn(t, () => undefined)
  assert.deepEqual(detailsOf(await interpret(saved, contextOf(api.base))), { kind: 'card' })
  const removed = event('payment_method.deleted', savedMethod())
  const outcome = await interpret(removed, contextOf(api.base))
  assert.ok(outcome.type === 'payment_method' && outcome.status === 'detached')
  assert.equal(api.requests.length, 1, 'a removed card is not looked up')
})

test('what is not as Paddle words it is left out of the details', async (t) => {
  const cases: readonly (readonly [Fields, keyof typeof fullDetails])[] = [
    ...['unknown', 'Visa', '', 7].map((type) => [{ type }, 'brand'] as const),
    ...['424', '42424', 'abcd', 4242].map((last4) => [{ last4 }, 'lastFour'] as const),
    ...[0, 13, '11', 1.5].map((month) => [{ expiry_month: month }, 'expiryMonth'] as const),
    ...[31, 20_310, '2031'].map((year) => [{ expiry_year: year }, 'expiryYear'] as const),
  ]
  const answers = cases.map(([fields]) => ({ ...card, ...fields }))
  const api = await standIn(t, () => entity({ id: methodId, type: 'card', card: answers.shift() }))
  for (const [fields, missing] of cases) {
    const { [missing]: _, ...rest } = fullDetails
    const found = detailsOf(await interpret(saved, contextOf(api.base)))
    assert.deepEqual(found, rest, JSON.stringify(fields))
  }
})

test('months are 1 to 12, and a method without a card has its kind', async (t) => {
  const answers = [1, 10, 12].map((month) => ({ ...card, expiry_month: month }))
  const api = await standIn(t, () =>
    entity({ id: methodId, type: 'paypal', card: answers.shift() ?? null }),
  )
  for (const expiryMonth of [1, 10, 12]) {
    const found = detailsOf(await interpret(saved, contextOf(api.base)))
    assert.deepEqual(found, { ...fullDetails, kind: 'paypal', expiryMonth })
  }
  assert.deepEqual(detailsOf(await interpret(saved, contextOf(api.base))), { kind: 'paypal' })
})

test('an outage is waited out when it is short', async (t) => {
  const replies = [{ status: 500, body: {} }, entity({ id: methodId, type: 'card', card })]
  const api = await standIn(t, () => replies.shift())
  assert.deepEqual(detailsOf(await interpret(saved, contextOf(api.base))), fullDetails)
  assert.equal(api.requests.length, 2)
})

const errorBody = (code: string) => ({ error: { type: 'request_error', code }, meta: {} })

test('a key that may not read fails the attempt and is named without the key', async (t) => {
  for (const [status, code] of [
    [401, 'authentication_malformed'],
    [403, 'forbidden'],
  ] as const) {
    const api = await standIn(t, () => ({ status, body: errorBody(code) }))
    for (const asked of [withoutTotals, saved]) {
      await assert.rejects(interpret(asked, contextOf(api.base)), (error: Error) => {
        assert.equal('code' in error && error.code, 'provider_refused')
        assert.ok(error.message.includes(`with ${status} (${code})`), error.message)
        assert.doesNotMatch(`${error.message} ${error.stack}`, /apikey_interpret/)
        return true
      })
    }
    assert.equal(api.requests.length, 2, 'a refusal is not tried again')
  }
})

test('an outage that lasts, and an answer of something else, fail the attempt', async (t) => {
  const down = await standIn(t, () => ({ status: 503, body: errorBody('bad_gateway') }))
  await assert.rejects(interpret(saved, contextOf(down.base)), { code: 'provider_unreachable' })
  const bodies = [{ data: { id: 'paymtd_another' } }, { data: [] }, {}, [], 'no JSON']
  for (const body of bodies) {
    const api = await standIn(t, () => ({ body }))
    await assert.rejects(interpret(saved, contextOf(api.base)), { code: 'provider_reply_invalid' })
  }
})

test('an attempt that is given up stops waiting for the answer', { timeout: 30_000 }, async (t) => {
  const giveUp = new AbortController()
  const api = await standIn(t, () => {
    giveUp.abort()
    return 'hang'
  })
  await assert.rejects(interpret(withoutTotals, contextOf(api.base, giveUp.signal)), {
    name: 'AbortError',
  })
  assert.equal(api.requests.length, 1)
})
