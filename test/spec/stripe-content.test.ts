import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'
import { stripeSigner } from '../../src/gateways/stripe/samples/sign.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import {
  allCalls,
  idle,
  newPayment,
  openBilling,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import {
  sendStripe,
  sessionEvent,
  signedHeaders,
  signingSecret,
  stripeOptions,
} from '../support/stripe-callbacks.ts'

const credentials = readCredentials(
  stripe,
  { STRIPE_SIGNING_SECRET: signingSecret },
  { production: true },
)

/** What each kind of callback makes of a pending payment: its status, and its events. */
const scenarios: Readonly<Record<string, readonly [string, ...string[]]>> = {
  paid: ['paid', 'PaymentSucceeded'],
  intent_paid: ['paid', 'PaymentSucceeded'],
  async_paid: ['paid', 'PaymentSucceeded'],
  async_failed: ['failed', 'PaymentFailed'],
  declined: ['failed', 'PaymentFailed'],
  expired: ['canceled', 'PaymentCanceled'],
  canceled: ['canceled', 'PaymentCanceled'],
  first_invoice_paid: ['paid', 'PaymentSucceeded', 'InvoiceIssued', 'InvoicePaid'],
}

const chargeEvents: ReadonlySet<string> = new Set([
  'PaymentSucceeded',
  'PaymentFailed',
  'PaymentCanceled',
])

/** What each callback that settles no charge of ours is about, as its call says. */
const besides: Readonly<Record<string, string | undefined>> = {
  pending: 'callback',
  refunded: 'refund:paid',
  refunded_half: 'refund:paid',
  refunded_rest: 'refund:paid',
  disputed: 'dispute',
  card_saved: 'payment_method:attached',
  card_removed: 'payment_method:detached',
  setup: 'payment_method:attached',
  renewed: 'payment:paid',
  // How it stands is asked, which needs a key.
  renewal_failed: 'callback',
  subscription_created: 'callback',
  subscription_canceled: 'callback',
  // A document, and nothing else.
  invoice_issued: undefined,
}

const isDocument = (type: string) => type.startsWith('invoice')

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, stripeOptions)
    await billing.core.work()
  })
  after(() => billing.close())

  const send = async (body: string, headers = signedHeaders(body)) => {
    const { core } = billing
    const target = '/billing/webhooks/stripe'
    const answer = await core.receive({
      gateway: 'stripe',
      target,
      headers,
      body: Buffer.from(body),
    })
    assert.deepEqual([answer.status, answer.body], [200, '{"message":"ok"}'])
    await idle(core)
    const call = (await allCalls(core)).at(-1)
    assert.ok(call)
    return call
  }
  const signed = (scenario: string, payment: Payment) =>
    stripeSigner.sign({ scenario, payment, credentials, now: new Date(), newId: newUuid })
  const seen = async (id: string) => {
    const payment = await billing.core.payments.get(id)
    return [payment?.status, payment?.events.map(({ type }) => type)]
  }

  const hasFired = async (type: string, paymentId: string) =>
    (await billing.core.payments.get(paymentId))?.events.some((event) => event.type === type) ??
    false

  describe('States and transitions, by what Stripe sends', () => {
    test('every scenario of the signer has its row here', () => {
      assert.deepEqual(
        Object.keys(stripeSigner.scenarios).toSorted(),
        Object.keys({ ...scenarios, ...besides }).toSorted(),
      )
    })

    for (const [scenario, [status, ...events]] of Object.entries(scenarios)) {
      test(`pending + ${scenario} -> ${status}, ${events.join(', ')}`, async () => {
        const payment = await newPayment(billing.core, { gateway: 'stripe' })
        const { body, headers } = signed(scenario, payment)
        await send(body, headers)
        // Those of its document are dispatched by a worker, one after the other.
        const ofDocuments = events.filter((type) => type.startsWith('Invoice'))
        for (const type of ofDocuments)
          await until(() => hasFired(type, payment.id), { what: type })
        assert.deepEqual(await seen(payment.id), [status, events])
      })
    }

    for (const [scenario, type] of Object.entries(besides)) {
      test(`pending + ${scenario} -> pending`, async () => {
        const payment = await newPayment(billing.core, { gateway: 'stripe' })
        const { body, headers } = signed(scenario, payment)
        const call = await send(body, headers)
        const types = call.outcome?.map((result) => result.type) ?? []
        assert.deepEqual(
          types.filter((one) => !isDocument(one)),
          type === undefined ? [] : [type],
        )
        const [status, events] = await seen(payment.id)
        assert.equal(status, 'pending')
        assert.ok(Array.isArray(events) && !events.some((name) => chargeEvents.has(name)))
      })
    }
  })

  /** Posts a paid session in which one field is written so, and expects the payment untouched. */
  async function mismatches(field: string, written: string) {
    const payment = await newPayment(billing.core, {
      gateway: 'stripe',
      amount: 100,
      currency: 'UAH',
    })
    const marked = sessionEvent({ payment, object: { [field]: 'MARK' } })
    const body = JSON.stringify(marked).replace('"MARK"', () => written)
    assert.ok(body.includes(`"${field}":${written}`))
    const call = await send(body)
    assert.deepEqual(call.outcome, [
      { result: 'ignored', type: 'payment', reason: 'amount_mismatch' },
    ])
    assert.equal(call.needsReview, true)
    assert.deepEqual(await seen(payment.id), ['pending', []])
  }

  describe('bad inputs, J: business content, signed and answered 200', () => {
    for (const amount of [99, 101]) {
      test(`149: ${amount} instead of 100 minor units settles nothing`, () =>
        mismatches('amount_total', String(amount)))
    }

    test('150: the equal number in another currency settles nothing', () =>
      mismatches('currency', '"usd"'))

    for (const currency of [
      'UAH',
      'Uah',
      '980',
      'uah ',
      ' uah',
      'ｕａｈ',
      'uah\u200b',
      'uaℎ',
      '',
    ]) {
      test(`151: the currency ${JSON.stringify(currency)} is not uah`, () =>
        mismatches('currency', JSON.stringify(currency)))
    }

    const amounts = [
      '-100',
      '0',
      '1e2',
      '100.0',
      '10000e-2',
      '100.00000000000000000001',
      'null',
      '[100]',
      'true',
    ]
    const texts = ['100', ' 100 ', '0x64', '100,00', '١٠٠', '1_00', '']
    const lexemes = [
      ...amounts,
      ...texts.map((text) => JSON.stringify(text)),
      '1'.repeat(30),
      '1e400',
    ]
    for (const lexeme of lexemes) {
      test(`152: the amount ${lexeme} is not 100`, () => mismatches('amount_total', lexeme))
    }

    test('152, 151: exactly as Stripe writes them, amount and currency settle', async () => {
      const payment = await newPayment(billing.core, {
        gateway: 'stripe',
        amount: 100,
        currency: 'UAH',
      })
      await sendStripe(billing.core, sessionEvent({ payment }))
      await idle(billing.core)
      assert.deepEqual(await seen(payment.id), ['paid', ['PaymentSucceeded']])
    })

    for (const [what, amount, currency] of [
      ['a currency without minor units', 5_000, 'JPY'],
      ['a currency of three decimals', 12_340, 'KWD'],
      ['the largest exact amount', Number.MAX_SAFE_INTEGER, 'UAH'],
    ] as const) {
      test(`111: ${what} is compared in Stripe's own minor units`, async () => {
        const payment = await newPayment(billing.core, { gateway: 'stripe', amount, currency })
        const wrong = await send(
          JSON.stringify(sessionEvent({ payment, object: { amount_total: amount - 100 } })),
        )
        assert.equal(wrong.needsReview, true)
        assert.deepEqual(await seen(payment.id), ['pending', []])
        await send(JSON.stringify(sessionEvent({ payment })))
        assert.deepEqual(await seen(payment.id), ['paid', ['PaymentSucceeded']])
      })
    }

    for (const reference of [
      'order-42',
      '{7c9e6679-7425-40de-944b-e07fc1f90ae7}',
      'urn:uuid:7c9e6679-7425-40de-944b-e07fc1f90ae7',
      '7c9e6679-7425-40de-944b-e07fc1f90ae7\n',
      '\n7c9e6679-7425-40de-944b-e07fc1f90ae7',
    ]) {
      test(`147: the reference ${JSON.stringify(reference)} is Ignored`, async () => {
        const object = { client_reference_id: reference, metadata: { payment_id: reference } }
        const payment = { id: newUuid(), amount: 1n, currency: 'UAH' }
        const call = await send(JSON.stringify(sessionEvent({ payment, object })))
        const [outcome] = call.outcome ?? []
        assert.equal(outcome?.result === 'ignored' && outcome.reason, 'invalid_reference')
      })
    }

    test('156: a paid callback for the payment of another gateway is Ignored gateway_mismatch', async () => {
      const payment = await newPayment(billing.core)
      const call = await send(JSON.stringify(sessionEvent({ payment })))
      const [outcome] = call.outcome ?? []
      assert.equal(outcome?.result === 'ignored' && outcome.reason, 'gateway_mismatch')
      assert.deepEqual(await seen(payment.id), ['pending', []])
    })

    test('164: a status of 10 KB is bounded and Ignored', async () => {
      const payment = await newPayment(billing.core, { gateway: 'stripe' })
      const object = { payment_status: 'x'.repeat(10_240), status: 'y'.repeat(10_240) }
      const call = await send(JSON.stringify(sessionEvent({ payment, object })))
      assert.equal(call.state, 'ignored')
      assert.ok(JSON.stringify(call.outcome).length < 1_000)
      assert.deepEqual(await seen(payment.id), ['pending', []])
    })

    test('40: a status that nobody knows is never paid', async () => {
      for (const payment_status of ['PAID', 'paid ', 'succeeded', 'complete', true, 1, null]) {
        const payment = await newPayment(billing.core, { gateway: 'stripe' })
        await send(JSON.stringify(sessionEvent({ payment, object: { payment_status } })))
        assert.deepEqual(await seen(payment.id), ['pending', []], String(payment_status))
      }
    })
  })

  describe('bad inputs, E: what a signed Stripe event may lack', () => {
    test('107, 108: another mode or account is Ignored with its reason', async () => {
      for (const [event, reason] of [
        [{ livemode: true }, 'mode_mismatch'],
        [{ account: 'acct_other' }, 'merchant_mismatch'],
      ] as const) {
        const payment = await newPayment(billing.core, { gateway: 'stripe', live: false })
        const call = await send(JSON.stringify(sessionEvent({ payment, event })))
        const [outcome] = call.outcome ?? []
        assert.equal(outcome?.result === 'ignored' && outcome.reason, reason)
        assert.deepEqual(await seen(payment.id), ['pending', []])
      }
    })

    test('109: an unknown event type is Ignored; a newer API version is read all the same', async () => {
      const payment = await newPayment(billing.core, { gateway: 'stripe' })
      const unknown = await send(
        JSON.stringify(sessionEvent({ payment, type: 'treasury.invented' })),
      )
      assert.equal(unknown.state, 'ignored')
      await send(JSON.stringify(sessionEvent({ payment, event: { api_version: '2031-01-01.x' } })))
      assert.deepEqual(await seen(payment.id), ['paid', ['PaymentSucceeded']])
    })

    for (const data of [
      undefined,
      null,
      [],
      'x',
      {},
      { object: null },
      { object: [] },
      { object: 1 },
    ]) {
      test(`110: data ${JSON.stringify(data)} is Ignored malformed_payload`, async () => {
        const payment = { id: newUuid(), amount: 1n, currency: 'UAH' }
        const call = await send(JSON.stringify(sessionEvent({ payment, event: { data } })))
        const [outcome] = call.outcome ?? []
        assert.equal(outcome?.result === 'ignored' && outcome.reason, 'malformed_payload')
      })
    }
  })
})
