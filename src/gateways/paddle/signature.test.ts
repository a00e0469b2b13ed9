import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCredentials } from '../credentials.ts'
import { officialSignature } from '../../../test/gateways/paddle/official.ts'
import { paddle } from './index.ts'

// How the header is read: signing/timestamped-signature.test.ts. Here is what is Paddle's own.

const signingSecret = 'pdl_ntfset_01m2z7q4w9e6r8t5y3u1i0o7ph_k+8/ZbQ2vR7tY1uI4oP9aS3dF6gH0jKl'
const now = new Date('2026-11-20T12:00:00.900Z')
const nowSeconds = 1795176000
const body =
  '{"data":{"id":"txn_1","note":"\\u0446\\u0456\\u043d\\u0430 5"},"event_type":"transaction.paid"}'
/** Made with `openssl dgst -sha256 -hmac`. */
const knownAnswer = 'b10d12cf0d9fc22116ea16020cece79645b435f3666a176e7703028ea9bbbe09'
/** The same with a dot in the place of the colon. */
const joinedByDot = 'fb0217a271724752ab562dbaee0b8b4639713f5cc7450601728b9463379a2423'

const credentialsOf = (secrets: string, tolerance?: string) =>
  readCredentials(
    paddle,
    { PADDLE_SIGNING_SECRET: secrets, PADDLE_TOLERANCE_SECONDS: tolerance },
    { production: true },
  )

/** How far the clocks differ is for a person to look at; the tests of it are those of the scheme. */
const withoutClock = <T extends object>(verdict: T) =>
  'reason' in verdict ? { valid: false, reason: verdict.reason } : verdict

const verdictOf = (
  header: string,
  using = credentialsOf(signingSecret),
  name = 'paddle-signature',
) =>
  withoutClock(paddle.verify({ headers: { [name]: header }, body: Buffer.from(body) }, using, now))

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })
const ts = `ts=${nowSeconds}`
const h1 = `h1=${knownAnswer}`

test('a signature made by openssl is valid under both header names', () => {
  for (const name of ['paddle-signature', 'beta-signature']) {
    assert.deepEqual(verdictOf(`${ts};${h1}`, credentialsOf(signingSecret), name), valid)
  }
  const foreign = verdictOf(`${ts};${h1}`, credentialsOf(signingSecret), 'stripe-signature')
  assert.deepEqual(foreign, refused('signature_missing'))
  assert.deepEqual(verdictOf(`${ts};h1=${joinedByDot}`), refused('signature_mismatch'))
})

test('signatures made by the official package are valid', async () => {
  const signed = await officialSignature(nowSeconds, body, signingSecret)
  assert.deepEqual(verdictOf(`${ts};h1=${signed}`), valid)
  const other = await officialSignature(nowSeconds, body, 'pdl_ntfset_another')
  assert.deepEqual(verdictOf(`${ts};h1=${other}`), refused('signature_mismatch'))
})

test('an h1 may be beside others, which need not be readable, and algorithms of other numbers', () => {
  const headers = [
    `${ts};h1=unreadable;${h1}`,
    `${ts};h1=;${h1}`,
    `${ts};h1=${'0'.repeat(64)};${h1}`,
    `${ts};${h1};h2=RANDOM_HASH`,
    `${ts};h256=;${h1}`,
  ]
  for (const header of headers) assert.deepEqual(verdictOf(header), valid, header)
  for (const algorithm of ['h2', 'h11']) {
    const other = verdictOf(`${ts};${algorithm}=${knownAnswer}`)
    assert.deepEqual(other, refused('signature_scheme_missing'))
  }
})

test('an element that is neither the time nor an algorithm makes the header malformed', () => {
  const elements = ['x=1', `v1=${knownAnswer}`, 'h1234=1', 'h=1', `xh1=${knownAnswer}`, '=x', '']
  for (const element of elements) {
    const verdict = verdictOf(`${ts};${h1};${element}`)
    assert.deepEqual(verdict, refused('signature_header_malformed'), element)
  }
  for (const time of [`t=${nowSeconds}`, `TS=${nowSeconds}`, `ts:${nowSeconds}`]) {
    assert.deepEqual(verdictOf(`${time};${h1}`), refused('signature_header_malformed'), time)
  }
  assert.deepEqual(verdictOf(`${ts},${h1}`), refused('timestamp_malformed'))
})

test('the window is a setting of 300 s', async () => {
  const signedAt = async (time: number) =>
    `ts=${time};h1=${await officialSignature(time, body, signingSecret)}`
  const aged = await signedAt(nowSeconds - 300)
  assert.deepEqual(verdictOf(aged), valid)
  assert.deepEqual(verdictOf(await signedAt(nowSeconds - 301)), refused('timestamp_too_old'))
  const narrow = credentialsOf(signingSecret, '10')
  assert.deepEqual(verdictOf(aged, narrow), refused('timestamp_too_old'))
})

test('each configured secret counts, and a blank one is none', () => {
  const both = credentialsOf(`pdl_ntfset_the_new_one_0123,${signingSecret}`)
  assert.deepEqual(verdictOf(`${ts};${h1}`, both), { valid: true, secret: 2 })
  const rotated = credentialsOf('pdl_ntfset_the_new_one_0123')
  assert.deepEqual(verdictOf(`${ts};${h1}`, rotated), refused('signature_mismatch'))
  for (const blank of ['', '   ', 'undefined', 'null']) {
    assert.deepEqual(verdictOf(`${ts};${h1}`, credentialsOf(blank)), refused('not_configured'))
  }
})
