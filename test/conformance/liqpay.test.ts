import assert from 'node:assert/strict'
import { judgementOf } from '../support/judgement-of.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { liqpay } from '../../src/gateways/liqpay/index.ts'
import { interpretLiqpay } from '../../src/gateways/liqpay/interpret.ts'
import { signatureOf } from '../../src/gateways/liqpay/signature.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { testWithProviderData } from '../support/provider-data.ts'

interface Vector {
  readonly name: string
  readonly secret: string
  readonly publicKey: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly expected: 'valid' | 'invalid'
  readonly decodedData?: string
  readonly meaning?: Meaning
}

interface Meaning {
  readonly reference: string
  readonly providerReference?: string
  readonly status: string
  readonly amountMinor?: number
  readonly currency?: string
  readonly refundedMinor?: number
  readonly cardToken?: string
}

const requestOf = ({ headers, rawBody }: Pick<Vector, 'headers' | 'rawBody'>) => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ),
  body: Buffer.from(rawBody, 'utf8'),
})

const credentialsOf = (vector: Pick<Vector, 'secret' | 'publicKey'>) =>
  readCredentials(
    liqpay,
    { LIQPAY_PUBLIC_KEY: vector.publicKey, LIQPAY_PRIVATE_KEY: vector.secret },
    { production: false },
  )

async function verdictOn(vector: Vector): Promise<string> {
  const verdict = await liqpay.verify(requestOf(vector), credentialsOf(vector), new Date())
  assert.ok('valid' in verdict, `${vector.name}: a verdict, not a complaint about a field`)
  return verdict.valid ? 'valid' : 'invalid'
}

testWithProviderData('every callback vector of LiqPay gets the expected verdict', async (data) => {
  const vectors = data.readJson('vectors/liqpay.json') as readonly Vector[]
  assert.ok(vectors.length >= 21, `only ${vectors.length} vectors`)
  const verdicts = vectors.map(async (vector) => [vector.name, await verdictOn(vector)])
  assert.deepEqual(
    Object.fromEntries(await Promise.all(verdicts)),
    Object.fromEntries(vectors.map(({ name, expected }) => [name, expected])),
  )
})

testWithProviderData('the same vectors sent as JSON get the same verdict', async (data) => {
  const vectors = data.readJson('vectors/liqpay.json') as readonly Vector[]
  for (const vector of vectors) {
    const fields = Object.fromEntries(new URLSearchParams(vector.rawBody))
    const asJson = { ...vector, rawBody: JSON.stringify(fields) }
    assert.equal(await verdictOn(asJson), vector.expected, vector.name)
  }
})

testWithProviderData('every callback vector of LiqPay means what its sheet says', (data) => {
  const vectors = data.readJson('vectors/liqpay.json') as readonly Vector[]
  const meanings = vectors.filter(({ meaning }) => meaning !== undefined)
  assert.ok(meanings.length >= 14, `only ${meanings.length} meanings`)
  for (const vector of meanings) {
    const payload = liqpay.parse(requestOf(vector))
    assert.ok(payload.kind === 'json', vector.name)
    if (vector.decodedData !== undefined) assert.equal(payload.text, vector.decodedData)
    const outcomes = interpretLiqpay(payload)
    assert.deepEqual(outcomes.map(withoutToken), expectedOf(vector), vector.name)
  }
})

/** A token shows itself to `reveal` alone, so that two of them cannot be compared as values. */
function withoutToken(outcome: Outcome): unknown {
  if (outcome.type !== 'payment_method') return outcome
  const { status, token, payment } = outcome
  return { status, token: token?.reveal(), payment }
}

function expectedOf({ name, decodedData = '{}', meaning }: Vector): readonly unknown[] {
  assert.ok(meaning)
  const { public_key: publicKey = '' } = JSON.parse(decodedData) as { public_key?: string }
  const ignored = (reason: string, detail: string) => [{ type: 'ignored', reason, detail }]
  const payment = { id: meaning.reference }
  const account = { merchantAccount: publicKey, live: !publicKey.startsWith('sandbox_') }
  const money = { amount: BigInt(meaning.amountMinor ?? 0), currency: meaning.currency }
  const { providerReference } = meaning
  const own = { type: 'payment', payment, ...money, providerReference, ...account }
  switch (meaning.status) {
    case 'paid':
      return name.startsWith('regular')
        ? [{ ...own, payment: { providerReference }, status: 'paid', renews: payment }]
        : [{ ...own, status: 'paid' }]
    // Paid with test money: it settles only what was made in test mode.
    case 'sandbox':
      assert.equal(account.live, false)
      return [{ ...own, status: 'paid' }]
    case 'failed': {
      const { err_code: declineCode } = JSON.parse(decodedData) as { err_code?: string }
      return [{ ...own, status: 'failed', ...(declineCode && { declineCode }) }]
    }
    case 'pending':
      return ignored('no_outcome', name.replaceAll('-', '_'))
    case 'refunded': {
      const refundedTotal = BigInt(meaning.refundedMinor ?? 0)
      const { currency } = money
      const { providerReference: _, ...paidBefore } = own
      return [
        { ...paidBefore, status: 'paid' },
        { type: 'refund', payment, status: 'paid', refundedTotal, currency, ...account },
      ]
    }
    case 'subscription-created':
      return [
        ...ignored('unhandled_event', 'subscribed'),
        { status: 'attached', token: meaning.cardToken, payment },
      ]
    case 'subscription-canceled':
      return ignored('unhandled_event', 'unsubscribed')
    // The sample of the Python SDK has none of the fields that every callback has.
    case 'ignored':
      return ignored('malformed_payload', 'version')
    default:
      throw new Error(`${name}: unknown meaning ${meaning.status}`)
  }
}

interface SignedPair {
  readonly name: string
  readonly secret: string
  readonly data: string
  readonly signature: string
}

testWithProviderData('the published pairs of data and signature are signed the same', (data) => {
  const { signing } = data.readJson('vectors/liqpay-signing.json') as {
    readonly signing: readonly SignedPair[]
  }
  assert.ok(signing.length >= 5, `only ${signing.length} pairs`)
  for (const pair of signing) {
    const signature = Buffer.from(signatureOf(secret(pair.secret), pair.data)).toString('base64')
    assert.equal(signature, pair.signature, pair.name)
    const body = new URLSearchParams({ data: pair.data, signature }).toString()
    const using = { secret: pair.secret, publicKey: 'i1' }
    const verdict = liqpay.verify(
      requestOf({ headers: {}, rawBody: body }),
      credentialsOf(using),
      new Date(),
    )
    assert.deepEqual(judgementOf(verdict), { valid: true }, pair.name)
  }
})
