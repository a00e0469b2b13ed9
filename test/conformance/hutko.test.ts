import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { secret } from '../../src/kernel/secret.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { hutko } from '../../src/gateways/hutko/index.ts'
import { interpretHutko } from '../../src/gateways/hutko/interpret.ts'
import { signatureOf, signedFields } from '../../src/gateways/hutko/signature.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { testWithProviderData } from '../support/provider-data.ts'

interface Vector {
  readonly name: string
  readonly merchantId: string | number
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly expected: 'valid' | 'invalid'
  /** Either of these will do, whatever is expected. */
  readonly acceptable?: readonly string[]
  readonly signedString?: string
  readonly meaning?: Meaning
}

interface Meaning {
  readonly status: string
  readonly reference?: string
  readonly providerReference?: string
  readonly amountMinor?: number
  readonly currency?: string
  readonly refundedMinor?: number
}

interface SigningVector {
  readonly name: string
  readonly secret: string
  readonly fields: Readonly<Record<string, string | number>>
  readonly data?: string
  readonly signedString: string
  readonly signature: string
}

const requestOf = ({ headers, rawBody }: Vector) => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ),
  body: Buffer.from(rawBody, 'utf8'),
})

const credentialsOf = (vector: Vector) =>
  readCredentials(
    hutko,
    { HUTKO_MERCHANT_ID: String(vector.merchantId), HUTKO_SECRET_KEY: vector.secret },
    { production: false },
  )

testWithProviderData('every callback vector of hutko gets the expected verdict', async (data) => {
  const vectors = data.readJson('vectors/hutko.json') as readonly Vector[]
  assert.ok(vectors.length >= 27, `only ${vectors.length} vectors`)
  for (const vector of vectors) {
    const verdict = await hutko.verify(requestOf(vector), credentialsOf(vector), new Date())
    assert.ok('valid' in verdict, vector.name)
    const acceptable = vector.acceptable ?? [vector.expected]
    assert.ok(acceptable.includes(verdict.valid ? 'valid' : 'invalid'), vector.name)
  }
})

testWithProviderData('every callback vector of hutko means what it says it means', (data) => {
  const vectors = data.readJson('vectors/hutko.json') as readonly Vector[]
  const meant = vectors.filter(({ meaning }) => meaning !== undefined)
  assert.ok(meant.length >= 15, `only ${meant.length} vectors with a meaning`)
  for (const vector of meant) {
    const outcomes = interpretHutko(hutko.parse(requestOf(vector)))
    assert.deepEqual(meaningOf(outcomes), expectedOf(vector), vector.name)
  }
})

/** Whatever is ignored names nothing; a refund is told beside the payment that it belongs to. */
function expectedOf({ merchantId, meaning }: Vector): object {
  const { status = '', reference, providerReference, amountMinor, currency } = meaning ?? {}
  if (status === 'ignored' || status === 'pending') return { status: 'ignored' }
  const bound = { merchantAccount: String(merchantId), reference }
  return {
    ...bound,
    currency,
    // What was refunded had been paid.
    status: status === 'refunded' ? 'paid' : status,
    providerReference,
    amountMinor,
    ...(meaning?.refundedMinor !== undefined && { refundedMinor: meaning.refundedMinor }),
  }
}

function meaningOf([first, ...more]: readonly Outcome[]): object {
  assert.ok(first)
  if (first.type === 'ignored') return { status: 'ignored' }
  const refund = [first, ...more].find((outcome) => outcome.type === 'refund')
  assert.ok(first.type === 'payment' && 'id' in first.payment)
  const { merchantAccount, currency, payment } = first
  return {
    merchantAccount,
    reference: payment.id,
    currency,
    status: first.status,
    providerReference: first.providerReference,
    amountMinor: Number(first.amount),
    ...(refund && 'refundedTotal' in refund && { refundedMinor: Number(refund.refundedTotal) }),
  }
}

testWithProviderData('callbacks of hutko are signed over the expected texts', (data) => {
  const vectors = data.readJson('vectors/hutko.json') as readonly Vector[]
  const told = vectors.filter(({ signedString }) => signedString !== undefined)
  assert.ok(told.length >= 3)
  for (const vector of told.filter(({ rawBody }) => rawBody.startsWith('{'))) {
    const payload = hutko.parse(requestOf(vector))
    assert.ok(payload.kind === 'json' && payload.value instanceof Map)
    const signed = signedFields(payload.value)
    assert.ok(signed.ok)
    assert.equal(`${vector.secret}|${signed.text}`, vector.signedString, vector.name)
  }
})

interface OfficialPackage {
  genSignature(data: object, key: string): string
  genSignatureV2(data: string, key: string): string
}

const official = createRequire(import.meta.url)(
  'cloudipsp-node-js-sdk/lib/util.js',
) as OfficialPackage

testWithProviderData('requests of hutko are signed as its official package signs them', (data) => {
  const { signing } = data.readJson('vectors/hutko-signing.json') as {
    signing: readonly SigningVector[]
  }
  assert.ok(signing.length >= 5, `only ${signing.length} vectors`)
  for (const vector of signing) {
    const text = vector.data ?? textOf(vector)
    assert.equal(`${vector.secret}|${text}`, vector.signedString, vector.name)
    const signature = Buffer.from(signatureOf(secret(vector.secret), text)).toString('hex')
    assert.equal(signature, vector.signature, vector.name)
    const theirs =
      vector.data === undefined
        ? official.genSignature(vector.fields, vector.secret)
        : official.genSignatureV2(vector.data, vector.secret)
    assert.equal(signature, theirs, vector.name)
  }
})

function textOf({ fields }: SigningVector): string {
  const signed = signedFields(
    new Map(Object.entries(fields).map(([name, value]) => [name, String(value)])),
  )
  assert.ok(signed.ok)
  return signed.text
}
