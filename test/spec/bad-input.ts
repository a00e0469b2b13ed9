import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
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
import { refused, settles, type Sent, type Service } from './callback-service.ts'

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

/** Declares the tests, on a service that others share. */
export function declareBadInput(service: () => Service): void {
  describe('bad inputs, D: signature attacks', () => {
    let outside: StandIn
    before(async () => {
      outside = await startStandIn(() => ({ body: { key: 'x' } }))
    })
    after(() => outside.close())

    for (const { name } of signing) {
      test(`${name}: signatures that are none are answered 403, and the genuine one is accepted`, async () => {
        const payment = await service().pay(name)
        const attacks = { ...attacksOn(name, payment), ...alongTo(name, payment, outside.base) }
        const sent = Object.values(attacks).map((make): Sent => ({ payment, make }))
        const results = await service().sendAll(sent)
        assert.deepEqual(
          Object.fromEntries(Object.keys(attacks).map((what, at) => [what, results[at]])),
          Object.fromEntries(Object.keys(attacks).map((what) => [what, refused])),
        )
        assert.deepEqual(outside.requests, [], 'nobody is asked for a key')
        if (!overBytes.has(name)) await assertQueryCountsForNothing(service(), payment)
        // The genuine callback, of which all the above was made.
        assert.deepEqual(await service().send(payment, callbackAbout(payment)), settles)
      })
    }
  })
}

type Attacks = Readonly<Record<string, () => Callback>>

/** Everything that is not the genuine callback about this payment, by what it is. */
function attacksOn(name: string, payment: Payment): Attacks {
  const damages = Object.entries(damagesOf(name)).map(([what, damage]) => [
    what,
    () => {
      const genuine = callbackAbout(payment)
      const changed = damage(genuine, payment)
      assert.notDeepEqual(changed, genuine, what)
      return changed
    },
  ])
  const own = overBytes.has(name) ? writtenAnew(payment) : ofOtherKinds(name, payment)
  return {
    ...(Object.fromEntries(damages) as Attacks),
    ...ofOtherBodies(name, payment),
    ...own,
    ...ofOthers(name, payment),
  }
}

/** A right signature of another body. */
function ofOtherBodies(name: string, payment: Payment): Attacks {
  const { id, amount } = payment
  const wire = wireOf(name)
  const by = (text: string) => () => {
    const signature = wire.signatureIn(callbackAbout(payment))
    return wire.withSignature(wire.sign(text, keyOf(name)), signature)
  }
  const otherId = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  return {
    'a right signature of another amount': by(textAbout({ ...payment, amount: amount + 1n })),
    'a right signature of another payment': by(textAbout({ ...payment, id: otherId })),
  }
}

/** The same body in other bytes. */
function writtenAnew(payment: Payment): Attacks {
  const anew: Readonly<Record<string, (body: string) => string>> = {
    indented: (body) => JSON.stringify(JSON.parse(body), null, 3),
    'behind a blank': (body) => ` ${body}`,
    'before a line end': (body) => `${body}\n`,
    'behind a byte order mark': (body) => `\ufeff${body}`,
  }
  return Object.fromEntries(
    Object.entries(anew).map(([what, write]) => [
      `a body written anew, ${what}`,
      () => {
        const { headers, body } = callbackAbout(payment)
        return { headers, body: write(body) }
      },
    ]),
  )
}

/** A signature that is no text, or that stands elsewhere. */
function ofOtherKinds(name: string, payment: Payment): Attacks {
  const wire = wireOf(name)
  const count = kinds('').length
  const others = Array.from({ length: count }, (_, at) => [
    `a signature that is no text: ${kinds('...')[at]}`,
    () => {
      const genuine = callbackAbout(payment)
      return withKind(name, genuine, kinds(wire.signatureIn(genuine))[at] ?? '')
    },
  ])
  return {
    ...(Object.fromEntries(others) as Attacks),
    'a signature in a header': () => {
      const genuine = callbackAbout(payment)
      const signature = wire.signatureIn(genuine)
      const headers = { ...genuine.headers, signature, 'x-sign': signature }
      return { ...wire.withSignature(genuine, undefined), headers }
    },
  }
}

/** Of another merchant, and of every other gateway. */
function ofOthers(name: string, payment: Payment): Attacks {
  const strangers = () => callbackAbout(payment, { owner: 'stranger' })
  const others = signing.filter((one) => one.name !== name)
  const theirs = others.flatMap((other) => {
    const callback = () => callbackAbout({ ...payment, gateway: other.name })
    return [
      [`the callback of ${other.name}`, callback],
      [
        `the headers of ${other.name}`,
        () => ({ headers: callback().headers, body: strangers().body }),
      ],
    ]
  })
  return { "another merchant's": strangers, ...(Object.fromEntries(theirs) as Attacks) }
}

/** Keys and their addresses that come along. */
function alongTo(name: string, payment: Payment, base: string): Attacks {
  return {
    'a key, and the address of one, that come along': () => {
      const { public_key: key = 'a_key' } = testCredentials(gatewayOf(name), 'stranger')
      const url = `${base}/key.pem`
      const along = `"public_key_url":"${url}","jku":"${url}","x5u":"${url}","cert_url":"${url}"`
      const text = textAbout(payment).replace('{', `{${along},`)
      const { headers, body } = wireOf(name).sign(text, keyOf(name, 'stranger'))
      const more = { 'x-public-key': key, 'x-key-url': url, 'paypal-cert-url': url, 'x-cert': key }
      return { headers: { ...headers, ...more }, body }
    },
  }
}

async function assertQueryCountsForNothing(service: Service, payment: Payment): Promise<void> {
  const { headers, body } = callbackAbout(payment)
  const form = body.startsWith('data=')
    ? body
    : new URLSearchParams(JSON.parse(body) as Record<string, string>).toString()
  const { answer } = await service.receive(payment.gateway, { headers, body: '' }, `?${form}`)
  assert.equal(answer.status, 403)
}
