import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { embedded } from '../support/databases.ts'
import { startStandIn, type StandIn } from '../support/stand-in.ts'
import {
  callbackAbout,
  gatewayOf,
  keyOf,
  signing,
  textAbout,
  wireOf,
  type Callback,
} from './callbacks.ts'
import { openService, refused, settles, type Service } from './callback-service.ts'

// Signatures that are none, against the whole service: each is answered 403 with a constant text,
// nothing is stored, the payment stays, and the log names a reason and no secret.

/** Gateways whose signature stands in a header, and which therefore sign the bytes. */
const overBytes = new Set(['stripe', 'paddle', 'monobank'])
const inBase64 = new Set(['liqpay', 'monobank'])

type Damage = (genuine: Callback, payment: Payment) => Callback

/** What is done to the text of a signature. */
const textDamages: Readonly<Record<string, (signature: string) => string | undefined>> = {
  'no signature': () => undefined,
  'an empty signature': () => '',
  'a blank signature': () => ' ',
  'a signature that lacks its last byte': (text) => text.slice(0, -4),
  'the first half of a signature': (text) => text.slice(0, text.length / 2),
  'a signature with more behind it': (text) => `${text}00`,
  'a signature twice': (text) => text + text,
  'a signature that is no hex and no base64': () => 'zz',
  'a signature with one bad character': (text) => `${text.slice(0, 8)}!${text.slice(9)}`,
  'a bad character at the end': (text) => `${text.slice(0, -1)}~`,
  'a magic hash': (text) => `0e${'1'.repeat(text.length - 2)}`,
  'only zeros': (text) => '0'.repeat(text.length),
  'a blank before it': (text) => ` ${text}`,
  'a line end behind it': (text) => `${text}\n`,
  'the word true': () => 'true',
}

const hexDamages: typeof textDamages = {
  'capital hex': (text) => text.toUpperCase(),
  'hex as base64': (text) => Buffer.from(text, 'hex').toString('base64'),
  '0x before it': (text) => `0x${text}`,
}

const base64Damages: typeof textDamages = {
  'base64 with a line end in it': (text) => `${text.slice(0, 12)}\n${text.slice(12)}`,
  'base64 with junk in it': (text) => `${text.slice(0, 12)}*${text.slice(12)}`,
  'base64 with a blank in it': (text) => `${text.slice(0, 12)} ${text.slice(12)}`,
  'base64 without its padding': (text) => changed(text, text.replace(/={1,2}$/, '')) ?? `${text}=`,
  'base64 in the alphabet of URLs': (text) =>
    changed(text, Buffer.from(text, 'base64').toString('base64url')) ?? `-${text}`,
  'base64 with more padding': (text) => `${text}=`,
  'base64 as hex': (text) => Buffer.from(text, 'base64').toString('hex'),
}

function changed(before: string, after: string): string | undefined {
  return before === after ? undefined : after
}

/** Signatures by whoever knows a word that a careless program signs with. */
const careless = ['undefined', 'null', '[object Object]', 'false', 'true', '0', ' ', '']

function damagesOf(name: string): Readonly<Record<string, Damage>> {
  const wire = wireOf(name)
  const own = inBase64.has(name) ? base64Damages : hexDamages
  const texts = Object.entries({ ...textDamages, ...own }).map(([what, damage]) => [
    what,
    (genuine: Callback) => wire.withSignature(genuine, damage(wire.signatureIn(genuine))),
  ])
  const words = careless.map((key) => [
    `a signature with the key ${JSON.stringify(key)}`,
    (_: Callback, payment: Payment) =>
      name === 'monobank'
        ? wire.withSignature(
            wire.sign(textAbout(payment), keyOf(name)),
            createHmac('sha256', key).update(textAbout(payment)).digest('base64'),
          )
        : wire.sign(textAbout(payment), key),
  ])
  return Object.fromEntries([...texts, ...words]) as Record<string, Damage>
}

/** Where the signature stands in JSON it may be of any kind. */
const kinds = (signature: string) => [
  'true',
  'false',
  '0',
  '1',
  'null',
  '[]',
  '{}',
  `["${signature}"]`,
  `{"0":"${signature}"}`,
  `{"toString":"${signature}"}`,
]

/** The same callback as JSON whose signature is this JSON value. */
function withKind(name: string, genuine: Callback, lexeme: string): Callback {
  const headers = { 'content-type': 'application/json' }
  const signature = wireOf(name).signatureIn(genuine)
  if (name !== 'liqpay') return { headers, body: genuine.body.replace(`"${signature}"`, lexeme) }
  const data = new URLSearchParams(genuine.body).get('data')
  return { headers, body: `{"data":"${data}","signature":${lexeme}}` }
}

let service: Service
let outside: StandIn
before(async () => {
  service = await openService(embedded)
  outside = await startStandIn(() => ({ body: { key: 'x' } }))
})
after(async () => {
  await service[Symbol.asyncDispose]()
  await outside.close()
})

describe('bad inputs, D: signature attacks', () => {
  for (const { name } of signing) {
    describe(name, () => declareAttacks(name))
  }
})

function declareAttacks(name: string): void {
  const wire = wireOf(name)
  let payment: Payment
  before(async () => {
    payment = await service.pay(name)
  })
  const isRefused = async (callback: Callback, what = 'it') =>
    assert.deepEqual(await service.send(payment, callback), refused, `${what} is refused`)

  for (const [what, damage] of Object.entries(damagesOf(name))) {
    test(`${name}: ${what} is answered 403, and nothing is stored`, () => {
      const genuine = callbackAbout(payment)
      const changed = damage(genuine, payment)
      assert.notDeepEqual(changed, genuine)
      return isRefused(changed)
    })
  }

  test(`${name}: a right signature of another body is answered 403`, async () => {
    const genuine = callbackAbout(payment)
    const signature = wire.signatureIn(genuine)
    const { id, amount } = payment
    for (const text of [
      textAbout({ ...payment, amount: amount + 1n }),
      textAbout({ ...payment, id: id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }),
    ]) {
      const other = wire.sign(text, keyOf(name))
      await isRefused(wire.withSignature(other, signature), text)
    }
  })

  if (overBytes.has(name)) {
    test(`${name}: a body written anew, its meaning the same, is answered 403`, async () => {
      const { headers, body } = callbackAbout(payment)
      const value: unknown = JSON.parse(body)
      for (const text of [
        JSON.stringify(value, null, 3),
        ` ${body}`,
        `${body}\n`,
        `\ufeff${body}`,
      ]) {
        await isRefused({ headers, body: text }, text)
      }
    })
  } else {
    test(`${name}: a signature that is no text is answered 403`, async () => {
      const genuine = callbackAbout(payment)
      for (const lexeme of kinds(wire.signatureIn(genuine))) {
        await isRefused(withKind(name, genuine, lexeme), lexeme)
      }
    })

    test(`${name}: what is in the query or in headers makes up for nothing`, async () => {
      const genuine = callbackAbout(payment)
      const form = genuine.body.startsWith('data=')
        ? genuine.body
        : new URLSearchParams(JSON.parse(genuine.body) as Record<string, string>).toString()
      const query = `?${form}`
      const { answer } = await service.receive(name, { headers: genuine.headers, body: '' }, query)
      assert.equal(answer.status, 403)
      const signature = wire.signatureIn(genuine)
      const headers = { ...genuine.headers, signature, 'x-sign': signature }
      await isRefused({ ...wire.withSignature(genuine, undefined), headers })
    })
  }

  test(`${name}: another merchant's and every other gateway's signature is answered 403`, async () => {
    await isRefused(callbackAbout(payment, { owner: 'stranger' }))
    for (const other of signing.filter((one) => one.name !== name)) {
      await isRefused(callbackAbout({ ...payment, gateway: other.name }), other.name)
      const { headers } = callbackAbout({ ...payment, gateway: other.name })
      const { body } = callbackAbout(payment, { owner: 'stranger' })
      await isRefused({ headers, body }, other.name)
    }
  })

  test(`${name}: keys and their addresses that come along are not used, and nobody is asked`, async () => {
    const text = textAbout(payment)
    const { public_key: key = 'a_key' } = testCredentials(gatewayOf(name), 'stranger')
    const url = `${outside.base}/key.pem`
    const along = `"public_key_url":"${url}","jku":"${url}","x5u":"${url}","cert_url":"${url}"`
    const { headers, body } = wire.sign(text.replace('{', `{${along},`), keyOf(name, 'stranger'))
    const more = { 'x-public-key': key, 'x-key-url': url, 'paypal-cert-url': url, 'x-cert': key }
    await isRefused({ headers: { ...headers, ...more }, body })
    assert.deepEqual(outside.requests, [])
  })

  test(`${name}: the genuine callback, of which all the above was made, is accepted`, async () => {
    assert.deepEqual(await service.send(payment, callbackAbout(payment)), settles)
  })
}
