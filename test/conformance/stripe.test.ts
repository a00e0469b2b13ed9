import assert from 'node:assert/strict'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { interpretStripe } from '../../src/gateways/stripe/interpret.ts'
import { stripe } from '../../src/gateways/stripe/index.ts'
import { stripeSigner } from '../../src/gateways/stripe/sign.ts'
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

/** Every sample that is not `unhandled_event`. */
const handledSamples: Readonly<Record<string, string>> = {
  'checkout.session.async_payment_failed.json': 'failed',
  'checkout.session.async_payment_succeeded.json': 'paid 4999 USD',
  'checkout.session.completed.json': 'paid 4999 USD',
  'checkout.session.completed__no_payment_required.json': 'paid 0 USD',
  'checkout.session.completed__unpaid.json': 'no_outcome',
  'checkout.session.expired.json': 'canceled',
  'payment_intent.canceled.json': 'canceled',
  'payment_intent.payment_failed.json': 'failed',
  'payment_intent.processing.json': 'no_outcome',
  'payment_intent.requires_action.json': 'no_outcome',
  'payment_intent.succeeded.json': 'paid 4999 USD',
}

testWithProviderData('every sample event of Stripe is interpreted as its sheet says', (data) => {
  const files = eventFiles(data)
  assert.ok(files.length >= 50, `only ${files.length} samples`)
  for (const file of files) {
    assert.equal(meaningOf(data, file), handledSamples[file] ?? 'unhandled_event', file)
  }
  assert.deepEqual(
    Object.keys(handledSamples).filter((file) => !files.includes(file)),
    [],
  )
})

function eventFiles(data: ProviderData): readonly string[] {
  return data
    .list('samples/stripe')
    .filter((file) => file.endsWith('.json') && file !== '_index.json')
}

function meaningOf(data: ProviderData, file: string): string {
  const outcome = interpretStripe(
    stripe.parse({ headers: {}, body: data.readBytes(`samples/stripe/${file}`) }),
  )
  if (outcome.type === 'ignored') return outcome.reason
  assert.deepEqual(outcome.payment, { id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }, file)
  assert.equal(outcome.live, false, file)
  if (outcome.status !== 'paid') return outcome.status
  return `${outcome.status} ${outcome.amount} ${outcome.currency}`
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
    assert.deepEqual(
      Object.keys(body.data.object).toSorted(),
      Object.keys(sample.data.object).toSorted(),
      body.type,
    )
  }
})

function signedBody(scenario: string): EventBody {
  const { body } = stripeSigner.sign({
    scenario,
    payment: {
      id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01',
      amount: 4999n,
      currency: 'USD',
      checkoutReference: null,
      providerReference: null,
      merchantAccount: null,
      live: null,
    },
    credentials: readCredentials(
      stripe,
      { STRIPE_SIGNING_SECRET: 'whsec_x' },
      { production: true },
    ),
    now: new Date('2026-11-20T12:00:00Z'),
    newId: () => '0198f0aa-0000-7000-8000-000000000001',
  })
  return JSON.parse(body) as EventBody
}
