import assert from 'node:assert/strict'
import { createRequire, registerHooks } from 'node:module'
import { test } from 'node:test'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { RawRequest } from '../../src/gateways/gateway.ts'
import { body, publicKey, signature } from '../gateways/monobank/keys.ts'
import { createMonobank, monobank } from '../../src/gateways/monobank/index.ts'
import { monobankSigner } from '../../src/gateways/monobank/samples/sign.ts'
import { sampleKeys } from '../../src/gateways/monobank/samples/signing-key.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { signInput } from '../providers/kit.ts'
import { testWithProviderData } from '../support/provider-data.ts'
import { startStandIn } from '../support/stand-in.ts'

const now = new Date('2026-11-20T12:00:00Z')

interface Meaning {
  readonly reference: string
  readonly providerReference: string
  readonly status: 'pending' | 'paid' | 'failed' | 'refunded'
  readonly amountMinor: number
  readonly currencyNumeric: number
  readonly refundedMinor?: number
  readonly refundReference?: string
}

interface Vector {
  readonly name: string
  readonly publicKey: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly expected: 'valid' | 'invalid'
  readonly meaning?: Meaning
}

const requestOf = ({ headers, rawBody }: Vector): RawRequest => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ),
  body: Buffer.from(rawBody, 'utf8'),
})

const credentialsOf = (values: Readonly<Record<string, string>>) =>
  readCredentials(monobank, values, { production: true })

testWithProviderData('every vector of monobank gets the expected verdict', async (data) => {
  const vectors = data.readJson('vectors/monobank.json') as readonly Vector[]
  assert.ok(vectors.length >= 17, `only ${vectors.length} vectors`)
  for (const vector of vectors) {
    const credentials = credentialsOf({ MONOBANK_PUBLIC_KEY: vector.publicKey })
    const verdict = await monobank.verify(requestOf(vector), credentials, now)
    assert.ok('valid' in verdict, vector.name)
    assert.equal(verdict.valid ? 'valid' : 'invalid', vector.expected, vector.name)
  }
})

testWithProviderData('every vector has the same verdict with the key fetched', async (data) => {
  for (const vector of data.readJson('vectors/monobank.json') as readonly Vector[]) {
    const bank = await startStandIn(() => ({ body: { key: vector.publicKey } }))
    const credentials = credentialsOf({ MONOBANK_TOKEN: 'token', MONOBANK_API_BASE: bank.base })
    const verdict = await createMonobank().verify(requestOf(vector), credentials, now)
    await bank.close()
    assert.ok('valid' in verdict, vector.name)
    assert.equal(verdict.valid ? 'valid' : 'invalid', vector.expected, vector.name)
  }
})

testWithProviderData('every vector with a meaning is interpreted as that', async (data) => {
  const vectors = data.readJson('vectors/monobank.json') as readonly Vector[]
  const meant = vectors.filter(({ meaning }) => meaning !== undefined)
  assert.ok(meant.length >= 8, `only ${meant.length} with a meaning`)
  for (const vector of meant) {
    const outcomes = await interpret(vector)
    assert.deepEqual(outcomes, expectedOf(vector), vector.name)
  }
})

testWithProviderData('a signed body without an amount settles nothing', async (data) => {
  const vectors = data.readJson('vectors/monobank.json') as readonly Vector[]
  const fixture = vectors.find(({ name }) => name === 'third-party-sdk-fixture')
  assert.ok(fixture)
  const [outcome, ...more] = await interpret(fixture)
  assert.deepEqual(more, [])
  assert.ok(outcome?.type === 'payment')
  assert.equal(outcome.amount, undefined)
  assert.equal(outcome.currency, undefined)
})

function interpret(vector: Vector): Promise<readonly Outcome[]> {
  const credentials = credentialsOf({ MONOBANK_PUBLIC_KEY: vector.publicKey })
  const signal = AbortSignal.timeout(60_000)
  const payload = monobank.parse(requestOf(vector))
  return monobank.interpret(payload, { credentials, log: silentLog, signal })
}

function expectedOf({ meaning, rawBody }: Vector): readonly unknown[] {
  assert.ok(meaning)
  const { status, reference: id, providerReference: checkoutReference } = meaning
  assert.equal(meaning.currencyNumeric, 980)
  const money = { amount: BigInt(meaning.amountMinor), currency: 'UAH' }
  const bound = {
    payment: { checkoutReference },
    claimed: { id, by: 'anybody' },
    checkoutReference,
  }
  if (status === 'refunded') {
    assert.equal(meaning.refundedMinor, meaning.amountMinor)
    const refundReference = `${checkoutReference}/${meaning.refundReference}`
    const payment = { checkoutReference }
    // What went back had been taken, if the invoice is ours.
    const before = { type: 'payment', status: 'paid', ifOpenedHere: true, ...money, ...bound }
    return [before, { type: 'refund', payment, status: 'paid', ...money, refundReference }]
  }
  if (status === 'pending') {
    const { status: detail } = JSON.parse(rawBody) as { readonly status: string }
    return [{ type: 'ignored', reason: 'no_outcome', detail }]
  }
  const { errCode } = JSON.parse(rawBody) as { readonly errCode?: string }
  const declined = status === 'failed' && errCode !== undefined
  return [
    { type: 'payment', status, ...money, ...bound, ...(declined && { declineCode: errCode }) },
  ]
}

interface WebhookService {
  verifyWebhookSignature(body: Buffer, header: string): Promise<boolean>
}
type WebhookServiceClass = new (merchant: {
  getMerchantPubkey(): Promise<{ readonly key: string }>
}) => WebhookService

/**
 * The verifier of the package nestjs-monobank, with this key. Its decorators come from a framework
 * that is not installed and play no part in what it computes.
 */
function verifierOfPackage(key: string): WebhookService {
  const framework = 'file:///nest-decorators.cjs'
  const source = 'exports.Injectable = () => (x) => x; exports.Inject = () => () => {}'
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '@nestjs/common'
        ? { url: framework, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === framework ? { source, format: 'commonjs', shortCircuit: true } : next(url, context),
  })
  try {
    const require = createRequire(import.meta.url)
    const file = require
      .resolve('nestjs-monobank')
      .replace(/index\.js$/, 'modules/webhook/webhook.service.js')
    const { WebhookService } = require(file) as { WebhookService: WebhookServiceClass }
    return new WebhookService({ getMerchantPubkey: () => Promise.resolve({ key }) })
  } finally {
    hooks.deregister()
  }
}

test('the package nestjs-monobank accepts every test callback, and none that was changed', async () => {
  const { publicKey, signingKey } = sampleKeys('merchant')
  const verifier = verifierOfPackage(publicKey)
  const credentials = readCredentials(
    monobank,
    { MONOBANK_PUBLIC_KEY: publicKey, MONOBANK_SIGNING_KEY: signingKey },
    { production: false },
  )
  for (const scenario of Object.keys(monobankSigner.scenarios)) {
    const { headers, body } = monobankSigner.sign(signInput(credentials, { scenario }))
    const header = headers['x-sign'] ?? ''
    assert.equal(await verifier.verifyWebhookSignature(Buffer.from(body), header), true, scenario)
    const changed = Buffer.from(body.replace('4999', '4998'))
    assert.equal(await verifier.verifyWebhookSignature(changed, header), false, scenario)
  }
})

test('the package and this gateway agree on what OpenSSL signed', async () => {
  const verifier = verifierOfPackage(publicKey)
  const credentials = credentialsOf({ MONOBANK_PUBLIC_KEY: publicKey })
  for (const text of [body, `${body} `, body.replace('15075', '15076')]) {
    const bytes = Buffer.from(text)
    const expected = await verifier.verifyWebhookSignature(bytes, signature)
    assert.equal(expected, text === body)
    const request = { headers: { 'x-sign': signature }, body: bytes }
    const verdict = await monobank.verify(request, credentials, now)
    assert.equal('valid' in verdict && verdict.valid, expected)
  }
})
