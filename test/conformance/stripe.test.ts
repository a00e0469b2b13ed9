import assert from 'node:assert/strict'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'
import { stripeSigner } from '../../src/gateways/stripe/samples/sign.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type {
  InvoiceOutcome,
  Outcome,
  PaymentMethodOutcome,
  PaymentOutcome,
  PaymentReference,
  SubscriptionOutcome,
} from '../../src/payments/outcome.ts'
import { startStandIn, type StandIn, type StandInReply } from '../support/stand-in.ts'
import { signInput } from '../providers/kit.ts'
import { testWithProviderData, type ProviderData } from '../support/provider-data.ts'

interface Vector {
  readonly name: string
  readonly secret: string
  readonly secrets?: readonly string[]
  readonly now: number
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly expected: 'valid' | 'invalid'
}

testWithProviderData('every signature vector of Stripe gets the expected verdict', async (data) => {
  const vectors = data.readJson('vectors/stripe.json') as readonly Vector[]
  assert.ok(vectors.length >= 40, `only ${vectors.length} vectors`)
  const verdicts = vectors.map(async (vector) => [vector.name, await verdictOn(vector)])
  assert.deepEqual(
    Object.fromEntries(await Promise.all(verdicts)),
    Object.fromEntries(vectors.map(({ name, expected }) => [name, expected])),
  )
})

async function verdictOn(vector: Vector): Promise<string> {
  const secrets = (vector.secrets ?? [vector.secret]).join(',')
  const verdict = await stripe.verify(
    {
      headers: Object.fromEntries(
        Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      body: Buffer.from(vector.rawBody, 'utf8'),
    },
    readCredentials(stripe, { STRIPE_SIGNING_SECRET: secrets }, { production: true }),
    new Date(vector.now * 1000),
  )
  assert.ok('valid' in verdict, `${vector.name}: a verdict, not a complaint about a field`)
  return verdict.valid ? 'valid' : 'invalid'
}

const ours = '7c9e6679-7425-40de-944b-e07fc1f90ae7'

/** What a sample means with the API and, where that is less, without. */
type Meaning = readonly [withApi: string, without?: string]

const ringing: Meaning = ['subscription changed, ours', 'no_outcome']
const failing: Meaning = [
  'renewal failed 1900 USD; invoice issued 1900 USD of a renewal; subscription changed',
  'no_outcome; invoice issued 1900 USD of a renewal',
]

/** Every sample that is not `unhandled_event`. */
const handledSamples: Readonly<Record<string, Meaning>> = {
  'checkout.session.async_payment_failed.json': ['failed 4999 USD'],
  'checkout.session.async_payment_succeeded.json': ['paid 4999 USD'],
  'checkout.session.completed.json': ['paid 4999 USD'],
  'checkout.session.completed__no_payment_required.json': ['paid 0 USD'],
  'checkout.session.completed__setup.json': ['card visa 4242 attached, ours', 'no_outcome'],
  'checkout.session.completed__subscription.json': [
    'paid 1900 USD; subscription changed',
    'paid 1900 USD',
  ],
  'checkout.session.completed__unpaid.json': ['no_outcome'],
  'checkout.session.expired.json': ['canceled 4999 USD'],
  'payment_intent.canceled.json': ['canceled 4999 USD'],
  'payment_intent.payment_failed.json': ['failed 4999 USD'],
  'payment_intent.processing.json': ['no_outcome'],
  'payment_intent.requires_action.json': ['no_outcome'],
  'payment_intent.succeeded.json': ['paid 4999 USD'],
  'charge.refunded__full.json': ['refund 1 paid 1500 USD', 'no_outcome'],
  'charge.refunded__partial.json': ['refund 1 paid 1500 USD', 'no_outcome'],
  'refund.created.json': ['refund 1 paid 1500 USD'],
  'refund.created__pending.json': ['refund 2 pending 1500 USD'],
  'refund.failed.json': ['refund 2 failed 1500 USD'],
  'refund.updated.json': ['refund 2 paid 1500 USD'],
  'charge.dispute.created.json': ['dispute open 4999 USD', 'dispute open 4999 USD, by intent'],
  'charge.dispute.funds_withdrawn.json': [
    'dispute open 4999 USD',
    'dispute open 4999 USD, by intent',
  ],
  'charge.dispute.closed__lost.json': ['dispute lost 4999 USD', 'dispute lost 4999 USD, by intent'],
  'charge.dispute.closed__won.json': ['dispute won 4999 USD', 'dispute won 4999 USD, by intent'],
  'setup_intent.succeeded.json': ['card visa 4242 attached, ours', 'card attached, ours'],
  'payment_method.attached.json': ['card visa 4242 attached'],
  'payment_method.detached.json': ['card visa 4242 detached'],
  'customer.subscription.created.json': ringing,
  'customer.subscription.created__incomplete.json': ringing,
  'customer.subscription.created__trialing.json': ringing,
  'customer.subscription.deleted.json': ringing,
  'customer.subscription.deleted__payment_failed.json': ringing,
  'customer.subscription.paused.json': ringing,
  'customer.subscription.paused__payment_failure.json': ringing,
  'customer.subscription.resumed.json': ringing,
  'customer.subscription.trial_will_end.json': ringing,
  'customer.subscription.updated__cancel_at_period_end.json': ringing,
  'customer.subscription.updated__past_due.json': ringing,
  'customer.subscription.updated__pause_collection.json': ringing,
  'customer.subscription.updated__trial_ended.json': ringing,
  'customer.subscription.updated__unpaid.json': ringing,
  'invoice.finalized.json': ['invoice issued 1900 USD of a renewal'],
  'invoice.paid.json': ['renewal paid 1900 USD; invoice paid 1900 USD of a renewal'],
  'invoice.paid__subscription_create.json': ['paid 1900 USD; invoice paid 1900 USD of ours'],
  'invoice.paid__trial_zero.json': ['no_outcome'],
  'invoice.payment_action_required.json': ['subscription changed', 'no_outcome'],
  'invoice.payment_failed.json': failing,
  'invoice.payment_failed__final.json': failing,
  'invoice.voided.json': ['invoice void 1900 USD of a renewal'],
  'invoice_payment.paid.json': ['no_outcome'],
}

testWithProviderData(
  'every sample event of Stripe is interpreted as its sheet says',
  async (data) => {
    const files = eventFiles(data)
    assert.ok(files.length >= 50, `only ${files.length} samples`)
    await using api = await startStripe(data)
    for (const file of files) {
      const [withApi, without = withApi] = handledSamples[file] ?? ['unhandled_event']
      assert.equal(await meaningOf(data, file, api.settings), withApi, file)
      assert.equal(await meaningOf(data, file), without, `${file} without an API key`)
    }
    assert.deepEqual(
      Object.keys(handledSamples).filter((file) => !files.includes(file)),
      [],
    )
  },
)

testWithProviderData('a checkout whose intent saves its card says both', async (data) => {
  await using api = await startStripe(data, { setup_future_usage: 'off_session' })
  const meaning = await meaningOf(data, 'checkout.session.completed.json', api.settings)
  assert.equal(meaning, 'paid 4999 USD; card visa 4242 attached, ours')
})

testWithProviderData('a failed renewal that waits for its payer is none', async (data) => {
  await using api = await startStripe(data, { status: 'requires_action' })
  const meaning = await meaningOf(data, 'invoice.payment_failed.json', api.settings)
  const document = 'invoice issued 1900 USD of a renewal'
  assert.equal(meaning, `no_outcome; ${document}; subscription changed`)
})

testWithProviderData('a refund of the dashboard is found by what the API replies', async (data) => {
  const file = 'samples/stripe/refund.created.json'
  const sample = JSON.parse(data.readBytes(file).toString('utf8')) as EventBody
  const object = { ...sample.data.object, metadata: {} }
  const body = Buffer.from(JSON.stringify({ ...sample, data: { object } }))
  await using found = await startStripe(data)
  assert.equal(await meaningOfBody(body, found.settings), 'paid 4999 USD; refund 1 paid 1500 USD')
  assert.equal(await meaningOfBody(body), 'refund 1 paid 1500 USD, by intent')
  await using ofInvoice = await startStripe(data, { metadata: {} })
  const renewal = await meaningOfBody(body, ofInvoice.settings)
  assert.equal(renewal, 'refund 1 paid 1500 USD, by invoice')
})

testWithProviderData('each error reply of the API is told by its kind', async (data) => {
  const body = data.readBytes('samples/stripe/charge.dispute.created.json')
  for (const [file, code] of [
    ['ERROR_401_invalid_key.json', 'provider_refused'],
    ['ERROR_429_rate_limit.json', 'provider_unreachable'],
  ] as const) {
    const reply = data.readJson(`samples/stripe/api/${file}`) as StandInReply
    await using api = await startErrors(reply)
    await assert.rejects(meaningOfBody(body, api.settings), { code }, file)
  }
  const missing = 'samples/stripe/api/ERROR_404_resource_missing.json'
  await using api = await startErrors(data.readJson(missing) as StandInReply)
  const meaning = await meaningOfBody(body, api.settings)
  assert.equal(meaning, 'dispute open 4999 USD, by intent')
})

function eventFiles(data: ProviderData): readonly string[] {
  return data
    .list('samples/stripe')
    .filter((file) => file.endsWith('.json') && file !== '_index.json')
}

type Settings = Readonly<Record<string, string>>

interface StripeStandIn extends AsyncDisposable {
  readonly settings: Settings
}

type Fields = Readonly<Record<string, unknown>>

/** Answers with the sample replies; the intent has these fields besides. */
async function startStripe(data: ProviderData, fields: Fields = {}): Promise<StripeStandIn> {
  const sample = (file: string) => data.readJson(`samples/stripe/api/${file}.json`) as Fields
  const intent = { ...sample('GET_v1_payment_intents_ID__expand_payment_method'), ...fields }
  const setup = data.readJson('samples/stripe/setup_intent.succeeded.json') as EventBody
  const payments = sample('GET_v1_invoice_payments__invoice')
  const [payment] = payments['data'] as readonly Fields[]
  const open = { ...payments, data: [{ ...payment, status: 'open' }] }
  const isWaiting = fields['status'] === 'requires_action'
  return configure(
    await startStandIn(({ target }) => {
      const path = decodeURIComponent(target)
      if (path.startsWith('/v1/payment_intents/')) return { body: intent }
      if (path.startsWith('/v1/setup_intents/')) {
        return { body: { ...setup.data.object, payment_method: intent['payment_method'] } }
      }
      // The intent of a checkout, which names its payment, has paid no invoice.
      const isCheckout = path.includes('[payment_intent]') && !('metadata' in fields)
      if (path.startsWith('/v1/invoice_payments')) {
        return { body: isCheckout ? { ...payments, data: [] } : isWaiting ? open : payments }
      }
      return path.startsWith('/v1/refunds?')
        ? { body: { object: 'list', data: [sample('POST_v1_refunds')], has_more: false } }
        : undefined
    }),
  )
}

async function startErrors({ status = 500, body }: StandInReply): Promise<StripeStandIn> {
  return configure(await startStandIn(() => ({ status, body })))
}

function configure(standIn: StandIn): StripeStandIn {
  return {
    settings: { secret_key: 'sk_test_conformance_0123', api_base: standIn.base },
    [Symbol.asyncDispose]: () => standIn.close(),
  }
}

function meaningOf(data: ProviderData, file: string, settings: Settings = {}): Promise<string> {
  return meaningOfBody(data.readBytes(`samples/stripe/${file}`), settings)
}

async function meaningOfBody(body: Buffer, settings: Settings = {}): Promise<string> {
  const outcomes = await stripe.interpret(stripe.parse({ headers: {}, body }), {
    credentials: readCredentials(stripe, {}, { production: true, config: settings }),
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  })
  return outcomes.map(describeOutcome).join('; ')
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.type === 'ignored') return outcome.reason
  assert.equal(outcome.live, false)
  if (outcome.type === 'subscription') return describeSubscription(outcome)
  if (outcome.type === 'invoice') return describeInvoice(outcome)
  if (outcome.type === 'payment_method') return describeCard(outcome)
  const what = `${outcome.status} ${moneyOf(outcome)}`
  if (outcome.type === 'payment') return `${describePayment(outcome)}${what}`
  if (outcome.type === 'dispute') {
    assert.equal(outcome.reference, 'du_1SvcTest0000000000000001')
    return `dispute ${what}${by(outcome.payment)}`
  }
  assert.ok('refundReference' in outcome)
  return `refund ${outcome.refundReference.at(-1)} ${what}${by(outcome.payment)}`
}

function describePayment({ payment, providerReference, renews }: PaymentOutcome): string {
  if (renews === undefined) {
    assert.deepEqual(payment, { id: ours })
    return ''
  }
  assert.deepEqual(renews, { id: ours })
  assert.deepEqual(payment, { providerReference })
  assert.match(providerReference ?? '', /^in_/)
  return 'renewal '
}

const subscriptionId = 'sub_1SvcTest0000000000000001'

function describeSubscription({ reference, payment }: SubscriptionOutcome): string {
  assert.equal(reference, subscriptionId)
  if (payment === undefined) return 'subscription changed'
  assert.deepEqual(payment, { id: ours })
  return 'subscription changed, ours'
}

function describeInvoice(outcome: InvoiceOutcome): string {
  const { reference, payment, status } = outcome
  const said = `invoice ${status} ${moneyOf(outcome)}`
  assert.match(outcome.number ?? '', /^SVC-\d{4}$/)
  assert.match(outcome.url ?? '', /^https:\/\/invoice\.stripe\.com\//)
  assert.ok(
    outcome.issuedAt !== undefined && (outcome.paidAt !== undefined) === (status === 'paid'),
  )
  if (payment === undefined) return said
  if ('id' in payment) {
    assert.deepEqual(payment, { id: ours })
    return `${said} of ours`
  }
  assert.deepEqual(payment, { providerReference: reference })
  return `${said} of a renewal`
}

function describeCard(outcome: PaymentMethodOutcome): string {
  const { details = {}, payment, status } = outcome
  assert.equal(outcome.reference, 'pm_1SvcTest0000000000000001')
  assert.equal(outcome.customerReference, 'cus_SvcTest00000001')
  const shown = ['card', details.brand, details.lastFour, status].filter((text) => text)
  if (details.lastFour !== undefined) {
    assert.deepEqual([details.expiryMonth, details.expiryYear], [8, 2030])
  }
  if (payment === undefined) return shown.join(' ')
  assert.deepEqual(payment, { id: ours })
  return `${shown.join(' ')}, ours`
}

function moneyOf(outcome: { readonly amount?: bigint; readonly currency?: string }): string {
  return `${outcome.amount} ${outcome.currency}`
}

function by(payment: PaymentReference): string {
  if ('providerReference' in payment) {
    return payment.providerReference.startsWith('in_') ? ', by invoice' : ', by intent'
  }
  assert.deepEqual(payment, { id: ours })
  return ''
}

interface EventBody {
  readonly type: string
  readonly data: { readonly object: Readonly<Record<string, unknown>> }
}

testWithProviderData('signed test callbacks have every field of the sample events', (data) => {
  const bodies = Object.keys(stripeSigner.scenarios).map((scenario) => signedBody(scenario))
  for (const body of bodies) {
    const sample = data.readJson(`samples/stripe/${body.type}.json`) as EventBody
    assert.deepEqual(Object.keys(body).toSorted(), Object.keys(sample).toSorted(), body.type)
    for (const [own, theirs] of [
      [body.data, sample.data],
      [body.data.object, sample.data.object],
    ]) {
      const keys = Object.keys(own ?? {}).toSorted()
      assert.deepEqual(keys, Object.keys(theirs ?? {}).toSorted(), body.type)
    }
  }
})

function signedBody(scenario: string): EventBody {
  const credentials = readCredentials(
    stripe,
    { STRIPE_SIGNING_SECRET: 'whsec_x' },
    { production: true },
  )
  const { body } = stripeSigner.sign(
    signInput(credentials, { scenario, payment: { currency: 'USD' } }),
  )
  return JSON.parse(body) as EventBody
}
