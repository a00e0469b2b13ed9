import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { wayforpay } from '../../src/gateways/wayforpay/index.ts'
import { signTexts } from '../../src/gateways/wayforpay/signature.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { testWithProviderData, type ProviderData } from '../support/provider-data.ts'
import { startStandIn } from '../support/stand-in.ts'

interface Vector {
  readonly name: string
  readonly merchantAccount: string
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly expected: 'valid' | 'invalid'
  readonly meaning?: Meaning
}

interface Meaning {
  readonly reference: string
  readonly rawReference?: string
  readonly status: 'paid' | 'failed' | 'canceled' | 'pending' | 'refunded' | 'ignored'
  readonly amountMinor: number
  readonly currency: string
}

const now = new Date('2026-11-20T12:00:00Z')

function vectorsOf(data: ProviderData): readonly Vector[] {
  const vectors = data.readJson('vectors/wayforpay.json') as readonly Vector[]
  assert.ok(vectors.length >= 23, `only ${vectors.length} vectors`)
  return vectors
}

function credentialsOf(vector: Vector, apiBase = 'http://127.0.0.1:9') {
  const values = {
    WAYFORPAY_MERCHANT_ACCOUNT: vector.merchantAccount,
    WAYFORPAY_SECRET_KEY: vector.secret,
    WAYFORPAY_API_BASE: apiBase,
  }
  return readCredentials(wayforpay, values, { production: false })
}

function requestOf(vector: Vector) {
  const headers = Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: Buffer.from(vector.rawBody, 'utf8'),
  }
}

testWithProviderData(
  'every callback vector of WayForPay gets the expected verdict',
  async (data) => {
    for (const vector of vectorsOf(data)) {
      const verdict = await wayforpay.verify(requestOf(vector), credentialsOf(vector), now)
      assert.ok('valid' in verdict, vector.name)
      assert.equal(verdict.valid ? 'valid' : 'invalid', vector.expected, vector.name)
    }
  },
)

testWithProviderData('every valid vector of WayForPay means what its sheet says', async (data) => {
  const vectors = vectorsOf(data).filter(({ meaning }) => meaning !== undefined)
  assert.ok(vectors.length >= 16, `only ${vectors.length} meanings`)
  for (const vector of vectors) {
    const { meaning } = vector
    assert.ok(meaning !== undefined)
    assert.deepEqual(await shownOutcomes(vector), shownMeaning(meaning), vector.name)
  }
})

/** The look-up answers what the callback says; if it is a refund, of the whole amount. */
async function shownOutcomes(vector: Vector): Promise<readonly string[]> {
  const callback = JSON.parse(vector.rawBody) as Readonly<Record<string, unknown>>
  const returned = vector.meaning?.status === 'refunded' ? callback['amount'] : 0
  const standIn = await startStandIn(() => ({ body: { ...callback, refundAmount: returned } }))
  try {
    const outcomes = await wayforpay.interpret(wayforpay.parse(requestOf(vector)), {
      credentials: credentialsOf(vector, standIn.base),
      log: silentLog,
      signal: AbortSignal.timeout(60_000),
    })
    return outcomes.filter(({ type }) => type !== 'payment_method').map(shown)
  } finally {
    await standIn.close()
  }
}

function shown(outcome: Outcome): string {
  if (outcome.type === 'ignored') return 'nothing'
  assert.ok(outcome.type === 'payment' || outcome.type === 'refund')
  assert.equal(outcome.merchantAccount, 'test_merch_n1')
  assert.equal(outcome.live, false)
  const amount = 'refundedTotal' in outcome ? outcome.refundedTotal : outcome.amount
  const renews = outcome.type === 'payment' && outcome.renews
  return [
    outcome.type === 'refund' ? 'refunded' : outcome.status,
    ...Object.values(outcome.payment),
    ...(renews ? Object.values(renews) : []),
    amount,
    outcome.currency,
  ].join(' ')
}

function shownMeaning(meaning: Meaning): readonly string[] {
  const { status, reference, rawReference, amountMinor, currency } = meaning
  if (status === 'pending' || status === 'ignored') return ['nothing']
  const references = rawReference === undefined ? [reference] : [rawReference, reference]
  const told = [...references, amountMinor, currency].join(' ')
  // What was refunded had been paid.
  return status === 'refunded' ? [`paid ${told}`, `refunded ${told}`] : [`${status} ${told}`]
}

interface SigningData {
  readonly accept: readonly {
    readonly secret: string
    readonly orderReference: string
    readonly time: number
    readonly body: string
  }[]
  readonly signing: readonly {
    readonly name: string
    readonly secret: string
    readonly fields: Readonly<Record<string, string | number | readonly (string | number)[]>>
    readonly signature: string
  }[]
}

testWithProviderData('every accept body of WayForPay is answered to the byte', (data) => {
  const { accept } = data.readJson('vectors/wayforpay-signing.json') as SigningData
  assert.ok(accept.length >= 3)
  for (const vector of accept) {
    const texts = ['test_merch_n1', vector.orderReference, '1', 'UAH', '', '', 'Pending', '1134']
    const [merchantAccount, orderReference, amount, currency, authCode, cardPan] = texts
    const rawBody = JSON.stringify({
      merchantAccount,
      orderReference,
      merchantSignature: createHmac('md5', vector.secret).update(texts.join(';')).digest('hex'),
      amount,
      currency,
      authCode,
      cardPan,
      transactionStatus: 'Pending',
      reasonCode: 1134,
    })
    const credentials = readCredentials(
      wayforpay,
      { WAYFORPAY_MERCHANT_ACCOUNT: merchantAccount, WAYFORPAY_SECRET_KEY: vector.secret },
      { production: false },
    )
    const payload = wayforpay.parse({ headers: {}, body: Buffer.from(rawBody) })
    const { body } = wayforpay.acknowledge(payload, credentials, new Date(vector.time * 1000))
    assert.equal(body, vector.body)
  }
})

testWithProviderData('every other signature vector of WayForPay is reproduced', (data) => {
  const { signing } = data.readJson('vectors/wayforpay-signing.json') as SigningData
  assert.ok(signing.length >= 7)
  for (const vector of signing) {
    const texts = Object.values(vector.fields).flat().map(String)
    assert.equal(signTexts(secret(vector.secret), texts), vector.signature, vector.name)
  }
})
