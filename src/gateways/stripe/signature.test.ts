import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stripe } from 'stripe'
import { readCredentials } from '../credentials.ts'
import { stripe } from './index.ts'

// How the header is read: signing/timestamped-signature.test.ts. Here is what is Stripe's own.

const secret = 'whsec_signature_test_0123456789'
const now = new Date('2026-11-20T12:00:00.900Z')
const timestamp = Math.floor(now.getTime() / 1000)
const payload = '{\n  "id": "evt_1",\n  "note": "ціна 5 €"\n}'

const credentialsOf = (secrets: string, tolerance?: string) =>
  readCredentials(
    stripe,
    { STRIPE_SIGNING_SECRET: secrets, STRIPE_TOLERANCE_SECONDS: tolerance },
    { production: true },
  )

const official = (change: { readonly timestamp?: number; readonly scheme?: string } = {}) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp, ...change })

/** How far the clocks differ is for a person to look at; the tests of it are those of the scheme. */
const withoutClock = <T extends object>(verdict: T) =>
  'reason' in verdict ? { valid: false, reason: verdict.reason } : verdict

const verdictOf = (header: string, using = credentialsOf(secret), name = 'stripe-signature') =>
  withoutClock(
    stripe.verify({ headers: { [name]: header }, body: Buffer.from(payload) }, using, now),
  )

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })
const [t = '', v1 = ''] = official().split(',')

test('headers made by the official package are valid under both names', () => {
  for (const name of ['stripe-signature', 'alpha-signature']) {
    assert.deepEqual(verdictOf(official(), credentialsOf(secret), name), valid)
  }
  const foreign = verdictOf(official(), credentialsOf(secret), 'paddle-signature')
  assert.deepEqual(foreign, refused('signature_missing'))
})

test('only v1 counts: v0 is a test signature, and others may come', () => {
  const testSignature = official({ scheme: 'v0' })
  assert.deepEqual(verdictOf(testSignature), refused('signature_scheme_missing'))
  assert.deepEqual(verdictOf(`${t},V1${v1.slice(2)}`), refused('signature_scheme_missing'))
  assert.deepEqual(verdictOf(`${t},v2=deadbeef,x=,x==,${v1}`), valid)
  assert.deepEqual(verdictOf(`${t},=x=y,${v1}`), refused('signature_header_malformed'))
  assert.deepEqual(verdictOf(`${t},x,${v1}`), refused('signature_header_malformed'))
  assert.deepEqual(verdictOf(`T${t.slice(1)},${v1}`), refused('timestamp_missing'))
})

test('each v1 must be readable, and one of them right', () => {
  assert.deepEqual(verdictOf(`${t},v1=${'0'.repeat(64)},${v1}`), valid)
  assert.deepEqual(verdictOf(`${t},v1=abc,${v1}`), refused('signature_malformed'))
})

test('the window is a setting of 300 s', () => {
  const aged = official({ timestamp: timestamp - 300 })
  assert.deepEqual(verdictOf(aged), valid)
  assert.deepEqual(
    verdictOf(official({ timestamp: timestamp - 301 })),
    refused('timestamp_too_old'),
  )
  assert.deepEqual(verdictOf(aged, credentialsOf(secret, '10')), refused('timestamp_too_old'))
})

test('each configured secret counts, and a blank one is none', () => {
  const both = credentialsOf(`whsec_the_new_one,${secret}`)
  assert.deepEqual(verdictOf(official(), both), { valid: true, secret: 2 })
  const rotated = verdictOf(official(), credentialsOf('whsec_the_new_one'))
  assert.deepEqual(rotated, refused('signature_mismatch'))
  for (const blank of ['', '   ', 'undefined', 'null']) {
    assert.deepEqual(verdictOf(official(), credentialsOf(blank)), refused('not_configured'))
  }
})
