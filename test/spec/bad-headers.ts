import { createHash, createHmac } from 'node:crypto'
import { describe } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { callbackAbout, keyOf, textAbout, wireOf } from './callbacks.ts'
import {
  casesOf,
  declareCases,
  refused,
  settles,
  type Service,
  type Table,
} from './callback-service.ts'

// What can be bent of a signature that stands in a header, against the whole service; beside the
// refusals the nearest form that is right.

const stripeKey = keyOf('stripe')
const paddleKey = keyOf('paddle')
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex')
// One moment for all parts of a header, whenever a second ends.
const moment = { seconds: 0 }
const secondsAgo = (age: number) => String(moment.seconds - age)

type Header = (body: string) => string
const withHeader = (header: string, value: Header) => (payment: Payment) => {
  const body = textAbout(payment)
  moment.seconds = Math.floor(Date.now() / 1000)
  return { headers: { [header]: value(body) }, body }
}
const stripe = (value: Header) => withHeader('stripe-signature', value)
const paddle = (value: Header) => withHeader('paddle-signature', value)
const v1 = (at: string, body: string, key = stripeKey) => `v1=${hmac(key, `${at}.${body}`)}`
const h1 = (at: string, body: string, key = paddleKey) => `h1=${hmac(key, `${at}:${body}`)}`
const at = () => secondsAgo(0)
const wrong = (scheme: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${scheme}=${String(n).padStart(64, 'a')}`)

const stripeRefused: Table = {
  'signed 301 s ago': stripe((body) => `t=${secondsAgo(301)},${v1(secondsAgo(301), body)}`),
  'signed 310 s ahead': stripe((body) => `t=${secondsAgo(-310)},${v1(secondsAgo(-310), body)}`),
  'an old signature under a fresh time': stripe((body) => `t=${at()},${v1(secondsAgo(9), body)}`),
  'two times, the signed one first': stripe(
    (body) => `t=${secondsAgo(400)},t=${at()},${v1(secondsAgo(400), body)}`,
  ),
  'the same time twice': stripe((body) => `t=${at()},t=${at()},${v1(at(), body)}`),
  'eleven v1, the last one right': stripe((body) =>
    [`t=${at()}`, ...wrong('v1', 10), v1(at(), body)].join(','),
  ),
  'v0 alone': stripe((body) => `t=${at()},${v1(at(), body).replace('v1', 'v0')}`),
  'no time': stripe((body) => v1(at(), body)),
  'the body signed without its time': stripe((body) => `t=${at()},v1=${hmac(stripeKey, body)}`),
  'semicolons for commas': stripe((body) => `t=${at()};${v1(at(), body)}`),
  'a time in milliseconds': stripe((body) => `t=${at()}000,${v1(`${at()}000`, body)}`),
  'a time with a sign': stripe((body) => `t=+${at()},${v1(`+${at()}`, body)}`),
  'a time with a fraction': stripe((body) => `t=${at()}.0,${v1(`${at()}.0`, body)}`),
}

const stripeTaken: Table = {
  'signed 290 s ago': stripe((body) => `t=${secondsAgo(290)},${v1(secondsAgo(290), body)}`),
  'ten v1, the last one right': stripe((body) =>
    [`t=${at()}`, ...wrong('v1', 9), v1(at(), body)].join(','),
  ),
  'v0 and an unknown scheme beside v1': stripe(
    (body) => `t=${at()},v0=${'a'.repeat(64)},v2=x,${v1(at(), body)}`,
  ),
}

const paddleRefused: Table = {
  'signed 301 s ago': paddle((body) => `ts=${secondsAgo(301)};${h1(secondsAgo(301), body)}`),
  'signed 310 s ahead': paddle((body) => `ts=${secondsAgo(-310)};${h1(secondsAgo(-310), body)}`),
  'an old signature under a fresh time': paddle((body) => `ts=${at()};${h1(secondsAgo(9), body)}`),
  'two times, the signed one first': paddle(
    (body) => `ts=${secondsAgo(400)};ts=${at()};${h1(secondsAgo(400), body)}`,
  ),
  'the same time twice': paddle((body) => `ts=${at()};ts=${at()};${h1(at(), body)}`),
  'eleven h1, the last one right': paddle((body) =>
    [`ts=${at()}`, ...wrong('h1', 10), h1(at(), body)].join(';'),
  ),
  'h2 alone': paddle((body) => `ts=${at()};${h1(at(), body).replace('h1', 'h2')}`),
  'a comma for the semicolon': paddle((body) => `ts=${at()},${h1(at(), body)}`),
  'a colon for the equals sign': paddle((body) => `ts:${at()};${h1(at(), body)}`),
  'a part that is none': paddle((body) => `ts=${at()};${h1(at(), body)};x`),
  'a part at the end that is empty': paddle((body) => `ts=${at()};${h1(at(), body)};`),
  'a blank behind the semicolon': paddle((body) => `ts=${at()}; ${h1(at(), body)}`),
  'the body signed with a dot': paddle(
    (body) => `ts=${at()};h1=${hmac(paddleKey, `${at()}.${body}`)}`,
  ),
}

const paddleTaken: Table = {
  'signed 290 s ago': paddle((body) => `ts=${secondsAgo(290)};${h1(secondsAgo(290), body)}`),
  'ten h1, the last one right': paddle((body) =>
    [`ts=${at()}`, ...wrong('h1', 9), h1(at(), body)].join(';'),
  ),
}

const der = (r: Buffer, s: Buffer) => {
  const integer = (bytes: Buffer) => Buffer.from([2, bytes.length, ...bytes])
  const both = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.from([0x30, both.length]), both]).toString('base64')
}
const monobankWith = (make: (signature: Buffer) => string) => (payment: Payment) => {
  const genuine = callbackAbout(payment)
  const signature = Buffer.from(wireOf('monobank').signatureIn(genuine), 'base64')
  return wireOf('monobank').withSignature(genuine, make(signature))
}

const monobankRefused: Table = {
  'both numbers zero': monobankWith(() => der(Buffer.of(0), Buffer.of(0))),
  'both numbers one': monobankWith(() => der(Buffer.of(1), Buffer.of(1))),
  'both numbers without bytes': monobankWith(() => der(Buffer.of(), Buffer.of())),
  'a byte behind it': monobankWith((bytes) =>
    Buffer.concat([bytes, Buffer.of(0)]).toString('base64'),
  ),
  'the two numbers as they are': monobankWith((bytes) => rawOf(bytes).toString('base64')),
  'the two numbers in hex': monobankWith((bytes) => rawOf(bytes).toString('hex')),
  'a hash for a signature': (payment) =>
    wireOf('monobank').withSignature(
      callbackAbout(payment),
      createHash('sha256').update(textAbout(payment)).digest('base64'),
    ),
}

/** r and s, 32 bytes each. */
function rawOf(signature: Buffer): Buffer {
  const rLength = signature[3] ?? 0
  const numbers = [signature.subarray(4, 4 + rLength), signature.subarray(6 + rLength)]
  return Buffer.concat(numbers.map((one) => Buffer.concat([Buffer.alloc(32), one]).subarray(-32)))
}

/** Declares the tests, on a service that others share. */
export function declareBadHeaders(service: () => Service): void {
  describe('bad inputs, E, I: signatures in a header', () => {
    for (const [name, refusals, takes] of [
      ['stripe', stripeRefused, stripeTaken],
      ['paddle', paddleRefused, paddleTaken],
      ['monobank', monobankRefused, { 'the nearest form that is right': callbackAbout }],
    ] as const) {
      declareCases(service, [name, 'bent signatures, and the nearest right ones'], {
        ...casesOf(refused, refusals),
        ...casesOf(settles, takes),
      })
    }
  })
}
