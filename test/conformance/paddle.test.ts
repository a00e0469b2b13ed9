import assert from 'node:assert/strict'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { paddle } from '../../src/gateways/paddle/index.ts'
import { paddleSigner } from '../../src/gateways/paddle/samples/sign.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { signInput } from '../providers/kit.ts'
import { testWithProviderData, type ProviderData } from '../support/provider-data.ts'
import { startStandIn, type StandIn, type StandInReply } from '../support/stand-in.ts'

interface Vector {
  readonly name: string
  readonly secret: string
  readonly secrets?: readonly string[]
  readonly now: number
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  /** Under the window of Paddle's own packages, 5 s and one-sided. */
  readonly expected: 'valid' | 'invalid'
  readonly expectedWithoutReplayWindow: 'valid' | 'invalid'
  readonly ageSeconds: number | null
}

testWithProviderData('every signature vector of Paddle gets the expected verdict', async (data) => {
  const vectors = data.readJson('vectors/paddle.json') as readonly Vector[]
  assert.ok(vectors.length >= 38, `only ${vectors.length} vectors`)
  const verdicts = vectors.map(async (vector) => [vector.name, await verdictOn(vector)])
  assert.deepEqual(
    Object.fromEntries(await Promise.all(verdicts)),
    Object.fromEntries(vectors.map((vector) => [vector.name, expectedVerdict(vector)])),
  )
})

/** Our window has 300 s to both sides. */
function expectedVerdict({ ageSeconds, expectedWithoutReplayWindow }: Vector): string {
  return Math.abs(ageSeconds ?? 0) <= 300 ? expectedWithoutReplayWindow : 'invalid'
}

testWithProviderData(
  'with a window of 5 s, vectors that are not in the future agree as well',
  async (data) => {
    const vectors = data.readJson('vectors/paddle.json') as readonly Vector[]
    for (const vector of vectors.filter(({ ageSeconds }) => (ageSeconds ?? 0) >= 0)) {
      assert.equal(await verdictOn(vector, '5'), vector.expected, vector.name)
    }
  },
)

async function verdictOn(vector: Vector, tolerance?: string): Promise<string> {
  const secrets = (vector.secrets ?? [vector.secret]).join(',')
  const verdict = await paddle.verify(
    {
      headers: Object.fromEntries(
        Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      body: Buffer.from(vector.rawBody, 'utf8'),
    },
    readCredentials(
      paddle,
      { PADDLE_SIGNING_SECRET: secrets, PADDLE_TOLERANCE_SECONDS: tolerance },
      { production: true },
    ),
    new Date(vector.now * 1000),
  )
  assert.ok('valid' in verdict, `${vector.name}: a verdict, not a complaint about a field`)
  return verdict.valid ? 'valid' : 'invalid'
}

const reference = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const adjusted = 'txn_01h8bxpvx398a7zbawb77y0kp5'
const charged = 'txn_01h8dzxgkvdwemdhbpcapj2tbj'
const claiming = `, claimed as ${reference}`

/** Every sample that is not `unhandled_event`, without an API key. */
const handledSamples: Readonly<Record<string, string>> = {
  'adjustment.created.json': `refund pending 100 USD of ${adjusted}`,
  'adjustment.created__chargeback.json': `dispute open 100 USD of ${adjusted}`,
  'adjustment.created__chargeback_warning.json': `dispute open 100 USD of ${adjusted}`,
  'adjustment.created__refund_full_approved.json': `refund paid 65215 USD of ${charged}`,
  'adjustment.created__refund_pending.json': `refund pending 100 USD of ${adjusted}`,
  'adjustment.updated.json': `refund paid 100 USD of ${adjusted}`,
  'adjustment.updated__refund_approved.json': `refund paid 100 USD of ${adjusted}`,
  'adjustment.updated__refund_rejected.json': `refund failed 100 USD of ${adjusted}`,
  'payment_method.deleted.json': 'payment_method detached card',
  'payment_method.saved.json': 'payment_method attached card',
  'transaction.billed.json': 'no_outcome',
  'transaction.canceled.json': `payment canceled 1437041 USD of txn_01h8e0d5sej61d5n18bth8d7se; invoice 325-10148 void`,
  'transaction.canceled__with_reference.json': `payment canceled 1437041 USD of txn_01h8e0d5sej61d5n18bth8d7se${claiming}; invoice 325-10148 void`,
  'transaction.completed.json': `payment paid 65215 USD of ${charged}`,
  'transaction.completed__renewal.json': `payment paid 65215 USD of ${charged}; invoice 325-10566 paid`,
  'transaction.completed__with_reference.json': `payment paid 65215 USD of ${charged}${claiming}`,
  'transaction.created.json': 'no_outcome',
  'transaction.paid.json': `payment paid 89880 GBP of txn_01gxwxqj0rd5m8j1zdhvk05twz`,
  'transaction.paid__with_reference.json': `payment paid 89880 GBP of txn_01gxwxqj0rd5m8j1zdhvk05twz${claiming}`,
  'transaction.past_due.json': 'payment failed 43549 USD of txn_01h8e2svn94ze7bfj0zfh7z6wm',
  'transaction.payment_failed.json': `payment failed 65215 USD of ${charged}`,
  'transaction.payment_failed__action_required.json': 'no_outcome',
  'transaction.payment_failed__with_reference.json': `payment failed 65215 USD of ${charged}${claiming}`,
  'transaction.ready.json': 'no_outcome',
  'transaction.revised.json': 'no_outcome',
  'transaction.updated.json': 'no_outcome',
}

testWithProviderData(
  'every sample event of Paddle is interpreted as its sheet says',
  async (data) => {
    const files = data
      .list('samples/paddle')
      .filter((file) => file.endsWith('.json') && file !== '_index.json')
    assert.ok(files.length >= 40, `only ${files.length} samples`)
    const meanings = files.map(async (file) => {
      const outcomes = await interpretBody(data.readBytes(`samples/paddle/${file}`))
      return [file, outcomes.map(meaningOf).join('; ')]
    })
    assert.deepEqual(
      Object.fromEntries(await Promise.all(meanings)),
      Object.fromEntries(files.map((file) => [file, handledSamples[file] ?? 'unhandled_event'])),
    )
    const missing = Object.keys(handledSamples).filter((file) => !files.includes(file))
    assert.deepEqual(missing, [])
  },
)

async function interpretBody(
  body: Buffer,
  api?: Pick<StandIn, 'base'>,
): Promise<readonly Outcome[]> {
  const credentials = readCredentials(
    paddle,
    {
      PADDLE_SIGNING_SECRET: 'pdl_ntfset_x',
      ...(api && { PADDLE_API_KEY: 'pdl_sdbx_apikey_x', PADDLE_API_BASE: api.base }),
    },
    { production: true },
  )
  const { signal } = new AbortController()
  const payload = paddle.parse({ headers: {}, body })
  return paddle.interpret(payload, { credentials, log: silentLog, signal })
}

/** What it says besides the document that it may tell of. */
async function interpretSample(
  data: ProviderData,
  file: string,
  api?: Pick<StandIn, 'base'>,
): Promise<Outcome> {
  return onlyOne(await interpretBody(data.readBytes(`samples/paddle/${file}`), api))
}

function onlyOne(outcomes: readonly Outcome[]): Outcome {
  const [outcome, ...more] = outcomes
  assert.ok(outcome)
  assert.deepEqual(
    more.filter(({ type }) => type !== 'invoice'),
    [],
  )
  return outcome
}

function meaningOf(outcome: Outcome): string {
  if (outcome.type === 'ignored') return outcome.reason
  if (outcome.type === 'subscription') return outcome.type
  if (outcome.type === 'invoice') return `invoice ${outcome.number} ${outcome.status}`
  const { type, status } = outcome
  if (type === 'payment_method') return `${type} ${status} ${outcome.details?.kind}`
  assert.ok('amount' in outcome)
  const [of] = Object.values(outcome.payment)
  const claimed = type === 'payment' && outcome.claimed ? `, claimed as ${outcome.claimed.id}` : ''
  return `${type} ${status} ${outcome.amount} ${outcome.currency} of ${of}${claimed}`
}

async function withApi(reply: StandInReply, use: (api: StandIn) => Promise<void>): Promise<void> {
  const standIn = await startStandIn(() => reply)
  try {
    await use(standIn)
    assert.ok(standIn.requests.length > 0)
  } finally {
    await standIn.close()
  }
}

/** A sample reply of the API, as if it were about the entity of this id. */
function replyAbout(
  data: ProviderData,
  file: string,
  fields: Readonly<Record<string, unknown>>,
): StandInReply {
  const reply = data.readJson(`samples/paddle/api/${file}`) as { readonly data: object }
  return { body: { ...reply, data: { ...reply.data, ...fields } } }
}

testWithProviderData(
  'the renewal sample finds its first payment through the subscription',
  async (data) => {
    const reply = replyAbout(data, 'GET_subscriptions_ID.json', {
      id: 'sub_01h7ht5z5wdg9pz18jx1fagp8k',
      custom_data: { payment_id: reference },
    })
    await withApi(reply, async (api) => {
      const outcome = await interpretSample(data, 'transaction.completed__renewal.json', api)
      const checkoutReference = 'txn_01h8dzxgkvdwemdhbpcapj2tbj'
      assert.deepEqual(outcome, {
        type: 'payment',
        status: 'paid',
        payment: { checkoutReference },
        renews: 'subscription',
        subscriptionReference: 'sub_01h7ht5z5wdg9pz18jx1fagp8k',
        claimed: { id: reference, by: 'payer' },
        amount: 65215n,
        currency: 'USD',
        period: {
          startsAt: new Date('2023-09-11T08:07:35.449Z'),
          endsAt: new Date('2023-10-11T08:07:35.449Z'),
        },
        checkoutReference,
      })
    })
  },
)

testWithProviderData(
  'a paid sample without totals takes them from the transaction reply',
  async (data) => {
    const file = 'samples/paddle/transaction.paid__with_reference.json'
    const event = data.readJson(file) as { readonly data: { readonly id: string } }
    const body = Buffer.from(JSON.stringify({ ...event, data: { ...event.data, details: {} } }))
    const reply = replyAbout(data, 'GET_transactions_ID.json', { id: event.data.id })
    await withApi(reply, async (api) => {
      const outcome = onlyOne(await interpretBody(body, api))
      assert.equal(meaningOf(outcome), `payment paid 2915 GBP of ${event.data.id}${claiming}`)
    })
  },
)

testWithProviderData(
  'the saved card sample is shown as the payment method reply has it',
  async (data) => {
    const reply = replyAbout(data, 'GET_customers_ID_payment-methods_ID.json', {})
    await withApi(reply, async (api) => {
      const outcome = await interpretSample(data, 'payment_method.saved.json', api)
      assert.deepEqual(outcome, {
        type: 'payment_method',
        status: 'attached',
        reference: 'paymtd_01hs8zx6x377xfsfrt2bqsevbw',
        customerReference: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
        details: {
          kind: 'card',
          brand: 'visa',
          lastFour: '0002',
          expiryMonth: 1,
          expiryYear: 2025,
        },
      })
    })
  },
)

testWithProviderData(
  'sample errors of the API fail the attempt, and 404 is an answer',
  async (data) => {
    const files = data.list('samples/paddle/api').filter((file) => file.startsWith('ERROR_'))
    assert.ok(files.length >= 8, `only ${files.length} errors`)
    const codes: Readonly<Record<number, string>> = { 429: 'provider_unreachable' }
    for (const file of files) {
      const reply = data.readJson(`samples/paddle/api/${file}`) as StandInReply
      const { status = 200 } = reply
      await withApi(reply, async (api) => {
        const outcome = interpretSample(data, 'payment_method.saved.json', api)
        if (status === 404) assert.equal(meaningOf(await outcome), 'payment_method attached card')
        else await assert.rejects(outcome, { code: codes[status] ?? 'provider_refused' }, file)
      })
    }
  },
)

interface EventBody {
  readonly event_type: string
  readonly data: Readonly<Record<string, unknown>>
}

testWithProviderData('signed test callbacks have every field of the sample events', (data) => {
  for (const scenario of Object.keys(paddleSigner.scenarios)) {
    const body = signedBody(scenario)
    const sample = data.readJson(`samples/paddle/${body.event_type}.json`) as EventBody
    const own = new Set(fieldsOf(body))
    const missing = fieldsOf(sample).filter((field) => !own.has(field))
    assert.deepEqual(missing, [], `${scenario} as ${body.event_type}`)
  }
})

/** Names at the top, of the entity, and of its sums. */
function fieldsOf({ data, ...envelope }: EventBody): readonly string[] {
  const details = (data.details ?? {}) as Readonly<Record<string, object>>
  return [
    ...Object.keys(envelope),
    ...Object.keys(data).map((name) => `data.${name}`),
    ...Object.keys(details).map((name) => `details.${name}`),
    ...Object.keys(details.totals ?? data.totals ?? {}).map((name) => `totals.${name}`),
  ]
}

function signedBody(scenario: string): EventBody {
  const credentials = readCredentials(
    paddle,
    { PADDLE_SIGNING_SECRET: 'pdl_ntfset_x' },
    { production: true },
  )
  const { body } = paddleSigner.sign(
    signInput(credentials, { scenario, payment: { id: reference, currency: 'USD' } }),
  )
  return JSON.parse(body) as EventBody
}
