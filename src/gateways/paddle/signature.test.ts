import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCredentials } from '../credentials.ts'
import type { Credentials } from '../credential-fields.ts'
import { officialSignature } from './fixtures/official.ts'
import { paddle } from './index.ts'

const signingSecret = 'pdl_ntfset_01m2z7q4w9e6r8t5y3u1i0o7ph_k+8/ZbQ2vR7tY1uI4oP9aS3dF6gH0jKl'
const now = new Date('2026-11-20T12:00:00.900Z')
const nowSeconds = 1795176000
const body =
  '{"data":{"id":"txn_1","note":"\\u0446\\u0456\\u043d\\u0430 5"},"event_type":"transaction.paid"}'
/** Made with `openssl dgst -sha256 -hmac`. */
const knownAnswer = 'b10d12cf0d9fc22116ea16020cece79645b435f3666a176e7703028ea9bbbe09'
/** The same with a dot in the place of the colon. */
const joinedByDot = 'fb0217a271724752ab562dbaee0b8b4639713f5cc7450601728b9463379a2423'

const credentialsOf = (secrets: string, toleranceSeconds?: string) =>
  readCredentials(
    paddle,
    { PADDLE_SIGNING_SECRET: secrets, PADDLE_TOLERANCE_SECONDS: toleranceSeconds },
    { production: true },
  )
const credentials = credentialsOf(signingSecret)

const hmac = (text: string, key = signingSecret) =>
  createHmac('sha256', key).update(text).digest('hex')
const h1 = (timestamp: number | string, key = signingSecret) => hmac(`${timestamp}:${body}`, key)

const verdictOf = (
  headers: Record<string, string>,
  using: Credentials = credentials,
  bytes: Uint8Array = Buffer.from(body),
) => paddle.verify({ headers, body: bytes }, using, now)
const headerVerdict = (header: string, using?: Credentials) =>
  verdictOf({ 'paddle-signature': header }, using)

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })
const good = `ts=${nowSeconds};h1=${knownAnswer}`

test('a signature made by openssl is valid under both header names', () => {
  assert.deepEqual(verdictOf({ 'paddle-signature': good }), valid)
  assert.deepEqual(verdictOf({ 'beta-signature': good }), valid)
  const dotted = `ts=${nowSeconds};h1=${joinedByDot}`
  assert.deepEqual(headerVerdict(dotted), refused('signature_mismatch'))
})

test('signatures made by the official package are valid', async () => {
  const signed = await officialSignature(nowSeconds, body, signingSecret)
  assert.deepEqual(headerVerdict(`ts=${nowSeconds};h1=${signed}`), valid)
  const other = await officialSignature(nowSeconds, body, 'pdl_ntfset_another')
  assert.deepEqual(headerVerdict(`ts=${nowSeconds};h1=${other}`), refused('signature_mismatch'))
})

test('any of several h1 may match, in any order, beside algorithms of another number', () => {
  const other = h1(nowSeconds, 'pdl_ntfset_another')
  const ts = `ts=${nowSeconds}`
  const headers = [
    `h1=${knownAnswer};${ts}`,
    `${ts};h1=${other};h1=${knownAnswer}`,
    `${ts};h1=${knownAnswer};h1=${other}`,
    `${ts};h1=unreadable;h1=${knownAnswer}`,
    `${ts};h1=;h1=${knownAnswer}`,
    `${ts};h1=${knownAnswer};h2=RANDOM_HASH`,
    `${ts};h256=;h1=${knownAnswer}`,
    `${ts}${`;h1=${other}`.repeat(9)};h1=${knownAnswer}`,
  ]
  for (const header of headers) assert.deepEqual(headerVerdict(header), valid, header)
})

test('the window has 300 s to both sides, 300 itself included', () => {
  const cases = [
    [0, valid],
    [-6, valid],
    [-299, valid],
    [-300, valid],
    [-301, refused('timestamp_too_old')],
    [-86_400, refused('timestamp_too_old')],
    [299, valid],
    [300, valid],
    [301, refused('timestamp_in_future')],
    [86_400, refused('timestamp_in_future')],
  ] as const
  for (const [offset, verdict] of cases) {
    const timestamp = nowSeconds + offset
    const header = `ts=${timestamp};h1=${h1(timestamp)}`
    assert.deepEqual(headerVerdict(header), verdict, String(offset))
  }
})

test('the window is a setting, and nonsense in it or in the clock accepts nothing', () => {
  const timestamp = nowSeconds - 11
  const header = `ts=${timestamp};h1=${h1(timestamp)}`
  assert.deepEqual(headerVerdict(header, credentialsOf(signingSecret, '11')), valid)
  const narrow = credentialsOf(signingSecret, '10')
  assert.deepEqual(headerVerdict(header, narrow), refused('timestamp_too_old'))
  for (const setting of ['', '0', 'NaN', 'Infinity', '-1', '1e9', '3601', '10000', '1.5', ' 300']) {
    const using = { ...credentials, settings: { tolerance_seconds: setting } }
    assert.deepEqual(headerVerdict(header, using), refused('tolerance_invalid'), setting)
  }
  const widest = { ...credentials, settings: { tolerance_seconds: '3600' } }
  const oldest = nowSeconds - 3600
  assert.deepEqual(headerVerdict(`ts=${oldest};h1=${h1(oldest)}`, widest), valid)
  const unset = { ...credentials, settings: {} }
  assert.deepEqual(headerVerdict(header, unset), valid)
  const request = { headers: { 'paddle-signature': header }, body: Buffer.from(body) }
  const brokenClock = paddle.verify(request, credentials, new Date(Number.NaN))
  assert.deepEqual(brokenClock, refused('timestamp_too_old'))
})

test('every malformed header is refused with its own reason', () => {
  const ts = `ts=${nowSeconds}`
  const fresh = `h1=${knownAnswer}`
  const past = nowSeconds - 1000
  const cases: readonly (readonly [string, string])[] = [
    ['', 'signature_missing'],
    ['   ', 'signature_missing'],
    ['not-a-signature', 'signature_header_malformed'],
    [`${good};`, 'signature_header_malformed'],
    [`;${good}`, 'signature_header_malformed'],
    [`${ts};;${fresh}`, 'signature_header_malformed'],
    [`${ts};h1`, 'signature_header_malformed'],
    [`${ts};=x;${fresh}`, 'signature_header_malformed'],
    [`${good};x=1`, 'signature_header_malformed'],
    [`${good};v1=${knownAnswer}`, 'signature_header_malformed'],
    [`${good};h1234=1`, 'signature_header_malformed'],
    [`${good};h=1`, 'signature_header_malformed'],
    [`${ts};xh1=${knownAnswer}`, 'signature_header_malformed'],
    [`ts:${nowSeconds};${fresh}`, 'signature_header_malformed'],
    [`t=${nowSeconds};${fresh}`, 'signature_header_malformed'],
    [`TS=${nowSeconds};${fresh}`, 'signature_header_malformed'],
    [`${ts};H1=${knownAnswer}`, 'signature_header_malformed'],
    [`${ts}; ${fresh}`, 'signature_header_has_space'],
    [`${good} `, 'signature_header_has_space'],
    [` ${good}`, 'signature_header_has_space'],
    [`${ts}\t;${fresh}`, 'signature_header_has_space'],
    [`${good}, ${good}`, 'signature_header_has_space'],
    [fresh, 'timestamp_missing'],
    [`${ts};${ts};${fresh}`, 'timestamp_repeated'],
    [`ts=${past};${ts};h1=${h1(past)}`, 'timestamp_repeated'],
    [`${ts};ts=${past};h1=${h1(past)}`, 'timestamp_repeated'],
    [`${ts},${fresh}`, 'timestamp_malformed'],
    [`ts=;h1=${h1('')}`, 'timestamp_malformed'],
    [`ts=abc;h1=${h1('NaN')}`, 'timestamp_malformed'],
    [`ts=NaN;h1=${h1('NaN')}`, 'timestamp_malformed'],
    [`ts=-1;h1=${h1('-1')}`, 'timestamp_malformed'],
    [`ts=+${nowSeconds};h1=${h1(`+${nowSeconds}`)}`, 'timestamp_malformed'],
    [`ts=0${nowSeconds};h1=${h1(`0${nowSeconds}`)}`, 'timestamp_malformed'],
    [`ts=${nowSeconds}.0;h1=${h1(`${nowSeconds}.0`)}`, 'timestamp_malformed'],
    [`ts=${nowSeconds}x;${fresh}`, 'timestamp_malformed'],
    [`ts=1.7e9;h1=${h1('1.7e9')}`, 'timestamp_malformed'],
    [`ts=${'9'.repeat(13)};${fresh}`, 'timestamp_malformed'],
    [`ts=${'9'.repeat(12)};${fresh}`, 'timestamp_in_future'],
    [`ts=1;h1=${h1('1')}`, 'timestamp_too_old'],
    [ts, 'signature_scheme_missing'],
    [`${ts};h2=${knownAnswer}`, 'signature_scheme_missing'],
    [`${ts};h11=${knownAnswer}`, 'signature_scheme_missing'],
    [`${ts};h2=h1=${knownAnswer}`, 'signature_scheme_missing'],
    [`${ts}${`;${fresh}`.repeat(11)}`, 'too_many_signatures'],
    [`${ts};h1=`, 'signature_malformed'],
    [`${ts};h1=${knownAnswer.toUpperCase()}`, 'signature_malformed'],
    [`${ts};h1=${knownAnswer.slice(0, 32)}`, 'signature_malformed'],
    [`${ts};h1=${knownAnswer}00`, 'signature_malformed'],
    [`${ts};h1=zz${knownAnswer.slice(2)}`, 'signature_malformed'],
    [`${ts};h1=${knownAnswer}=`, 'signature_malformed'],
    [`${ts};h1=["${knownAnswer}"]`, 'signature_malformed'],
    [`${ts};h1=true`, 'signature_malformed'],
    [`${ts};h1=unreadable;h1=${'0'.repeat(64)}`, 'signature_mismatch'],
    [`${ts};h1=${hmac(body)}`, 'signature_mismatch'],
    [`ts=${nowSeconds + 1};${fresh}`, 'signature_mismatch'],
    [`${ts};h1=0e${'1'.repeat(62)}`, 'signature_mismatch'],
    ...['undefined', 'null', '[object Object]', 'false', ''].map(
      (key) => [`${ts};h1=${h1(nowSeconds, key)}`, 'signature_mismatch'] as const,
    ),
  ]
  for (const [header, reason] of cases) {
    assert.deepEqual(headerVerdict(header), refused(reason), header.slice(0, 120))
  }
})

test('a missing header, both headers at once and those of other gateways are refused', () => {
  assert.deepEqual(verdictOf({}), refused('signature_missing'))
  assert.deepEqual(verdictOf({ 'stripe-signature': good }), refused('signature_missing'))
  for (const second of [good, '']) {
    const headers = { 'paddle-signature': good, 'beta-signature': second }
    assert.deepEqual(verdictOf(headers), refused('signature_header_repeated'))
  }
})

test('any byte of the body that is flipped, lost or added is refused', () => {
  const bytes = Buffer.from(body)
  const headers = { 'paddle-signature': good }
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(2))
  fc.assert(
    fc.property(change, ([at, mask, kind]) => {
      const flipped = Buffer.from([(bytes[at] ?? 0) ^ mask])
      const middle = [
        flipped,
        Buffer.alloc(0),
        Buffer.concat([flipped, bytes.subarray(at, at + 1)]),
      ]
      const changed = [bytes.subarray(0, at), middle[kind] ?? flipped, bytes.subarray(at + 1)]
      const verdict = verdictOf(headers, credentials, Buffer.concat(changed))
      assert.deepEqual(verdict, refused('signature_mismatch'))
    }),
  )
  for (const text of ['', `${body}\n`, `\ufeff${body}`, JSON.stringify(JSON.parse(body))]) {
    const verdict = verdictOf(headers, credentials, Buffer.from(text))
    assert.deepEqual(verdict, refused('signature_mismatch'))
  }
})

test('any character of the header that is changed or lost is refused', () => {
  const change = fc.tuple(fc.nat(good.length - 1), fc.string({ maxLength: 2 }))
  fc.assert(
    fc.property(change, ([at, text]) => {
      const changed = good.slice(0, at) + text + good.slice(at + 1)
      fc.pre(changed !== good)
      const verdict = headerVerdict(changed)
      assert.ok('valid' in verdict && !verdict.valid, changed)
    }),
  )
})

test('during a rotation every configured secret counts, and afterwards the old one does not', () => {
  const both = credentialsOf(`pdl_ntfset_the_new_one_0123,${signingSecret}`)
  assert.deepEqual(headerVerdict(good, both), valid)
  const rotated = credentialsOf('pdl_ntfset_the_new_one_0123')
  assert.deepEqual(headerVerdict(good, rotated), refused('signature_mismatch'))
})

test('without a secret everything is refused, also what an empty or blank key has signed', () => {
  for (const key of ['', '   ', 'undefined', 'null']) {
    const header = `ts=${nowSeconds};h1=${h1(nowSeconds, key)}`
    assert.deepEqual(headerVerdict(header, credentialsOf(key)), refused('not_configured'))
  }
  const bare: Credentials = { secrets: {}, settings: {}, configured: false }
  assert.deepEqual(headerVerdict(good, bare), refused('not_configured'))
})
