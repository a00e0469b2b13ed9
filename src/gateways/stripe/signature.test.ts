import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Stripe } from 'stripe'
import { readCredentials } from '../credentials.ts'
import { stripe } from './index.ts'

const signingSecret = 'whsec_signature_test_0123456789'
const now = new Date('2026-11-20T12:00:00.900Z')
const nowSeconds = Math.floor(now.getTime() / 1000)
const body = '{\n  "id": "evt_1",\n  "note": "ціна 5 €"\n}'

const credentialsOf = (secrets: string, toleranceSeconds?: string) =>
  readCredentials(
    stripe,
    { STRIPE_SIGNING_SECRET: secrets, STRIPE_TOLERANCE_SECONDS: toleranceSeconds },
    { production: true },
  )
const credentials = credentialsOf(signingSecret)

const hmac = (text: string, secret = signingSecret) =>
  createHmac('sha256', secret).update(text).digest('hex')
const v1 = (timestamp: number | string, secret = signingSecret) =>
  hmac(`${timestamp}.${body}`, secret)
const good = v1(nowSeconds)

const verdictOf = (headers: Record<string, string>, using = credentials, text = body) =>
  stripe.verify({ headers, body: Buffer.from(text) }, using, now)
const headerVerdict = (header: string) => verdictOf({ 'stripe-signature': header })

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })

test('headers made by the official package are valid under both names', () => {
  const official = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: signingSecret,
    timestamp: nowSeconds,
  })
  assert.deepEqual(verdictOf({ 'stripe-signature': official }), valid)
  assert.deepEqual(verdictOf({ 'alpha-signature': official }), valid)
  const otherScheme = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: signingSecret,
    timestamp: nowSeconds,
    scheme: 'v0',
  })
  assert.deepEqual(headerVerdict(otherScheme), refused('signature_scheme_missing'))
})

test('elements in any order, unknown schemes and several v1 are valid if one v1 matches', () => {
  const other = v1(nowSeconds, 'whsec_another')
  const headers = [
    `v1=${good},t=${nowSeconds}`,
    `t=${nowSeconds},v0=${other},v1=${good}`,
    `t=${nowSeconds},v2=deadbeef,x=,v1=${good}`,
    `t=${nowSeconds},v1=${other},v1=${good}`,
    `t=${nowSeconds},v1=${good},v1=${other}`,
    `t=${nowSeconds}${`,v1=${other}`.repeat(9)},v1=${good}`,
  ]
  for (const header of headers) assert.deepEqual(headerVerdict(header), valid, header)
})

test('the window has 300 s to both sides, 300 itself included', () => {
  const cases = [
    [0, valid],
    [-299, valid],
    [-300, valid],
    [-301, refused('timestamp_too_old')],
    [-86_400, refused('timestamp_too_old')],
    [60, valid],
    [300, valid],
    [301, refused('timestamp_in_future')],
    [86_400, refused('timestamp_in_future')],
  ] as const
  for (const [offset, verdict] of cases) {
    const timestamp = nowSeconds + offset
    assert.deepEqual(headerVerdict(`t=${timestamp},v1=${v1(timestamp)}`), verdict, String(offset))
  }
})

test('the window is a setting, and nonsense in it or in the clock accepts nothing', () => {
  const timestamp = nowSeconds - 11
  const headers = { 'stripe-signature': `t=${timestamp},v1=${v1(timestamp)}` }
  assert.deepEqual(verdictOf(headers, credentialsOf(signingSecret, '11')), valid)
  const narrow = credentialsOf(signingSecret, '10')
  assert.deepEqual(verdictOf(headers, narrow), refused('timestamp_too_old'))
  for (const setting of ['', '0', 'NaN', 'Infinity', '-1', '1e9', '3601', '10000', '1.5', '9e1']) {
    const using = { ...credentials, settings: { tolerance_seconds: setting } }
    assert.deepEqual(verdictOf(headers, using), refused('tolerance_invalid'), setting)
  }
  const oldest = nowSeconds - 3600
  const oldHeader = { 'stripe-signature': `t=${oldest},v1=${v1(oldest)}` }
  assert.deepEqual(verdictOf(oldHeader, credentialsOf(signingSecret, '3600')), valid)
  const request = { headers, body: Buffer.from(body) }
  const brokenClock = stripe.verify(request, credentials, new Date(Number.NaN))
  assert.deepEqual(brokenClock, refused('timestamp_too_old'))
})

test('every malformed header is refused with its own reason', () => {
  const t = `t=${nowSeconds}`
  const future = `t=${nowSeconds + 1}`
  const cases: readonly (readonly [string, string])[] = [
    ['', 'signature_missing'],
    ['   ', 'signature_missing'],
    ['not-a-signature', 'signature_header_malformed'],
    [`${t},v1=${good},`, 'signature_header_malformed'],
    [`,${t},v1=${good}`, 'signature_header_malformed'],
    [`${t},v1`, 'signature_header_malformed'],
    [`${t},=x,v1=${good}`, 'signature_header_malformed'],
    [`${t},=x=y,v1=${good}`, 'signature_header_malformed'],
    [`${t}, v1=${good}`, 'signature_header_has_space'],
    [`${t},v1=${good} `, 'signature_header_has_space'],
    [`${t},v1=${good}, ${t},v1=${good}`, 'signature_header_has_space'],
    [`${t}\t,v1=${good}`, 'signature_header_has_space'],
    [`v1=${good}`, 'timestamp_missing'],
    [`T=${nowSeconds},v1=${good}`, 'timestamp_missing'],
    [`${t},${future},v1=${good}`, 'timestamp_repeated'],
    [`${future},${t},v1=${good}`, 'timestamp_repeated'],
    [`${t},${t},v1=${good}`, 'timestamp_repeated'],
    [`t=,v1=${v1('')}`, 'timestamp_malformed'],
    [`t=soon,v1=${v1('NaN')}`, 'timestamp_malformed'],
    [`t=NaN,v1=${v1('NaN')}`, 'timestamp_malformed'],
    [`t=-1,v1=${v1('-1')}`, 'timestamp_malformed'],
    [`t=+${nowSeconds},v1=${v1(`+${nowSeconds}`)}`, 'timestamp_malformed'],
    [`t=0${nowSeconds},v1=${v1(`0${nowSeconds}`)}`, 'timestamp_malformed'],
    [`t=${nowSeconds}.0,v1=${v1(`${nowSeconds}.0`)}`, 'timestamp_malformed'],
    [`t=1.7e9,v1=${v1('1.7e9')}`, 'timestamp_malformed'],
    [`t=${'9'.repeat(400)},v1=${good}`, 'timestamp_malformed'],
    [t, 'signature_scheme_missing'],
    [`${t},v0=${good}`, 'signature_scheme_missing'],
    [`${t},V1=${good}`, 'signature_scheme_missing'],
    [`${t}${`,v1=${good}`.repeat(11)}`, 'too_many_signatures'],
    [`${t},v1=`, 'signature_malformed'],
    [`${t},v1=,v1=${good}`, 'signature_malformed'],
    [`${t},v1=${good.toUpperCase()}`, 'signature_malformed'],
    [`${t},v1=${good.slice(0, 40)}`, 'signature_malformed'],
    [`${t},v1=${good}00`, 'signature_malformed'],
    [`${t},v1=zz${good.slice(2)}`, 'signature_malformed'],
    [`${t},v1=${good}=`, 'signature_malformed'],
    [`${t},v1=${good},v1=abc`, 'signature_malformed'],
    [`${t},v1=${hmac(body)}`, 'signature_mismatch'],
    [`${future},v1=${good}`, 'signature_mismatch'],
    [`${t},v1=${'0'.repeat(64)}`, 'signature_mismatch'],
    ...['undefined', 'null', '[object Object]', 'false', ''].map(
      (key) => [`${t},v1=${v1(nowSeconds, key)}`, 'signature_mismatch'] as const,
    ),
  ]
  for (const [header, reason] of cases) {
    assert.deepEqual(headerVerdict(header), refused(reason), header.slice(0, 120))
  }
})

test('a missing header and both headers at once are refused', () => {
  const header = `t=${nowSeconds},v1=${good}`
  assert.deepEqual(verdictOf({}), refused('signature_missing'))
  assert.deepEqual(verdictOf({ 'paddle-signature': header }), refused('signature_missing'))
  assert.deepEqual(
    verdictOf({ 'stripe-signature': header, 'alpha-signature': header }),
    refused('signature_header_repeated'),
  )
})

test('a body that is not the signed one, to the byte, is refused', () => {
  const headers = { 'stripe-signature': `t=${nowSeconds},v1=${good}` }
  const bodies = ['', `${body}\n`, body.replaceAll('\n', '\r\n'), `\ufeff${body}`]
  for (const text of [...bodies, JSON.stringify(JSON.parse(body)), body.replace('5', '6')]) {
    assert.deepEqual(verdictOf(headers, credentials, text), refused('signature_mismatch'))
  }
})

test('during a rotation every configured secret counts, and afterwards the old one does not', () => {
  const headers = { 'stripe-signature': `t=${nowSeconds},v1=${good}` }
  const both = credentialsOf(`whsec_the_new_one_0123,${signingSecret}`)
  assert.deepEqual(verdictOf(headers, both), valid)
  const rotated = credentialsOf('whsec_the_new_one_0123')
  assert.deepEqual(verdictOf(headers, rotated), refused('signature_mismatch'))
})

test('without a secret everything is refused, also what an empty or blank key has signed', () => {
  for (const key of ['', '   ', 'undefined', 'null']) {
    const headers = { 'stripe-signature': `t=${nowSeconds},v1=${v1(nowSeconds, key)}` }
    assert.deepEqual(verdictOf(headers, credentialsOf(key)), refused('not_configured'))
  }
  const bare = { secrets: {}, settings: {}, configured: false }
  const headers = { 'stripe-signature': `t=${nowSeconds},v1=${good}` }
  assert.deepEqual(verdictOf(headers, bare), refused('not_configured'))
})
