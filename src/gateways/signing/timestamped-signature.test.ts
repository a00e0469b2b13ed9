import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { secret } from '../../kernel/secret.ts'
import type { Credentials } from '../credential-fields.ts'
import { timestampedVerifier, type TimestampedScheme } from './timestamped-signature.ts'

const signingSecret = 'the_signing_secret_of_a_test_0123456789'
const now = new Date('2026-11-20T12:00:00.900Z')
const nowSeconds = 1795176000
const body = '{\n  "id": "evt_1",\n  "note": "ціна 5 €"\n}'

const scheme: TimestampedScheme = {
  headers: ['acme-signature', 'old-signature'],
  separator: ',',
  element: /^(?:t|v\d)=/,
  timestamp: 't',
  signature: 'v1',
  joint: '.',
  everyOneReadable: true,
}
/** One signature that cannot be read does not spoil the others. */
const lenient: TimestampedScheme = { ...scheme, everyOneReadable: false }

function credentialsOf(secrets: readonly string[], tolerance?: string): Credentials {
  return {
    secrets: { signing_secret: secrets.map(secret) },
    settings: tolerance === undefined ? {} : { tolerance_seconds: tolerance },
    configured: true,
  }
}
const credentials = credentialsOf([signingSecret])

const hmac = (text: string, key = signingSecret) =>
  createHmac('sha256', key).update(text).digest('hex')
const v1 = (timestamp: number | string, key = signingSecret) => hmac(`${timestamp}.${body}`, key)
const good = v1(nowSeconds)
const whole = `t=${nowSeconds},v1=${good}`

interface Given {
  readonly using?: Credentials
  readonly bytes?: Uint8Array
  readonly by?: TimestampedScheme
  readonly at?: Date
}

const fullVerdictOf = (
  headers: Record<string, string>,
  { using = credentials, bytes = Buffer.from(body), by = scheme, at = now }: Given = {},
) => timestampedVerifier(by)({ headers, body: bytes }, using, at)
const verdictOf = (headers: Record<string, string>, given?: Given) => {
  const verdict = fullVerdictOf(headers, given)
  return 'reason' in verdict ? refused(verdict.reason) : verdict
}
const headerVerdict = (header: string, given?: Given) =>
  verdictOf({ 'acme-signature': header }, given)

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })

test('the header is valid under each of its names', () => {
  for (const name of scheme.headers) assert.deepEqual(verdictOf({ [name]: whole }), valid)
})

test('elements in any order, unknown schemes and several signatures are valid if one matches', () => {
  const other = v1(nowSeconds, 'another')
  const headers = [
    `v1=${good},t=${nowSeconds}`,
    `t=${nowSeconds},v0=${other},v1=${good}`,
    `t=${nowSeconds},v2=deadbeef,v3=,v1=${good}`,
    `t=${nowSeconds},v1=${other},v1=${good}`,
    `t=${nowSeconds},v1=${good},v1=${other}`,
    `t=${nowSeconds}${`,v1=${other}`.repeat(9)},v1=${good}`,
  ]
  for (const header of headers) assert.deepEqual(headerVerdict(header), valid, header)
})

test('whether one signature that cannot be read spoils the header is the scheme’s to say', () => {
  for (const text of ['', 'unreadable', good.slice(2), `${good}00`]) {
    const header = `t=${nowSeconds},v1=${text},v1=${good}`
    assert.deepEqual(headerVerdict(header), refused('signature_malformed'), text)
    assert.deepEqual(headerVerdict(header, { by: lenient }), valid, text)
    const alone = `t=${nowSeconds},v1=${text}`
    assert.deepEqual(headerVerdict(alone, { by: lenient }), refused('signature_malformed'), text)
  }
  const header = `t=${nowSeconds},v1=unreadable,v1=${'0'.repeat(64)}`
  assert.deepEqual(headerVerdict(header, { by: lenient }), refused('signature_mismatch'))
})

test('the window has 300 s to both sides, 300 itself included', () => {
  const cases = [
    [0, valid],
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
    assert.deepEqual(headerVerdict(`t=${timestamp},v1=${v1(timestamp)}`), verdict, String(offset))
  }
})

test('the window is a setting, and nonsense in it or in the clock accepts nothing', () => {
  const timestamp = nowSeconds - 11
  const header = `t=${timestamp},v1=${v1(timestamp)}`
  const by = (tolerance: string) => ({ using: credentialsOf([signingSecret], tolerance) })
  assert.deepEqual(headerVerdict(header, by('11')), valid)
  assert.deepEqual(headerVerdict(header, by('10')), refused('timestamp_too_old'))
  const nonsense = ['', '0', 'NaN', 'Infinity', '-1', '1e9', '3601', '10000', '1.5', '9e1', ' 300']
  for (const setting of nonsense) {
    assert.deepEqual(headerVerdict(header, by(setting)), refused('tolerance_invalid'), setting)
  }
  const oldest = nowSeconds - 3600
  assert.deepEqual(headerVerdict(`t=${oldest},v1=${v1(oldest)}`, by('3600')), valid)
  const broken = headerVerdict(header, { at: new Date(Number.NaN) })
  assert.deepEqual(broken, refused('timestamp_too_old'))
})

test('a refusal says how far the stated time lies ahead of ours, if one was read', () => {
  const skewOf = (header: string) => {
    const verdict = fullVerdictOf({ 'acme-signature': header })
    return 'reason' in verdict ? [verdict.reason, verdict.clockSkewSeconds] : []
  }
  const signed = (timestamp: number) => `t=${timestamp},v1=${v1(timestamp)}`
  assert.deepEqual(skewOf(signed(nowSeconds - 400)), ['timestamp_too_old', -400])
  assert.deepEqual(skewOf(signed(nowSeconds + 400)), ['timestamp_in_future', 400])
  const forged = `t=${nowSeconds - 7},v1=${'0'.repeat(64)}`
  assert.deepEqual(skewOf(forged), ['signature_mismatch', -7])
  assert.deepEqual(skewOf('t=soon'), ['timestamp_malformed', undefined])
})

test('every malformed header is refused with its own reason', () => {
  const t = `t=${nowSeconds}`
  const fresh = `v1=${good}`
  const past = nowSeconds - 1000
  const cases: readonly (readonly [string, string])[] = [
    ['', 'signature_missing'],
    ['   ', 'signature_missing'],
    ['not-a-signature', 'signature_header_malformed'],
    [`${whole},`, 'signature_header_malformed'],
    [`,${whole}`, 'signature_header_malformed'],
    [`${t},,${fresh}`, 'signature_header_malformed'],
    [`${t},v1`, 'signature_header_malformed'],
    [`${t},=x,${fresh}`, 'signature_header_malformed'],
    [`${t},xv1=${good}`, 'signature_header_malformed'],
    [`T=${nowSeconds},${fresh}`, 'signature_header_malformed'],
    [`${t},V1=${good}`, 'signature_header_malformed'],
    [`${t}, ${fresh}`, 'signature_header_has_space'],
    [`${whole} `, 'signature_header_has_space'],
    [` ${whole}`, 'signature_header_has_space'],
    [`${whole}, ${whole}`, 'signature_header_has_space'],
    [`${t}\t,${fresh}`, 'signature_header_has_space'],
    [fresh, 'timestamp_missing'],
    [`${t},${t},${fresh}`, 'timestamp_repeated'],
    [`t=${past},${t},v1=${v1(past)}`, 'timestamp_repeated'],
    [`${t},t=${past},v1=${v1(past)}`, 'timestamp_repeated'],
    [`t=,v1=${v1('')}`, 'timestamp_malformed'],
    [`t=soon,v1=${v1('NaN')}`, 'timestamp_malformed'],
    [`t=NaN,v1=${v1('NaN')}`, 'timestamp_malformed'],
    [`t=-1,v1=${v1('-1')}`, 'timestamp_malformed'],
    [`t=+${nowSeconds},v1=${v1(`+${nowSeconds}`)}`, 'timestamp_malformed'],
    [`t=0${nowSeconds},v1=${v1(`0${nowSeconds}`)}`, 'timestamp_malformed'],
    [`t=${nowSeconds}.0,v1=${v1(`${nowSeconds}.0`)}`, 'timestamp_malformed'],
    [`t=${nowSeconds}x,${fresh}`, 'timestamp_malformed'],
    [`t=1.7e9,v1=${v1('1.7e9')}`, 'timestamp_malformed'],
    [`t=${'9'.repeat(400)},${fresh}`, 'timestamp_malformed'],
    [`t=${'9'.repeat(13)},${fresh}`, 'timestamp_malformed'],
    [`t=${'9'.repeat(12)},${fresh}`, 'timestamp_in_future'],
    [`t=1,v1=${v1('1')}`, 'timestamp_too_old'],
    [t, 'signature_scheme_missing'],
    [`${t},v0=${good}`, 'signature_scheme_missing'],
    [`${t},v2=v1=${good}`, 'signature_scheme_missing'],
    [`${t}${`,${fresh}`.repeat(11)}`, 'too_many_signatures'],
    [`${t},v1=`, 'signature_malformed'],
    [`${t},v1=${good.toUpperCase()}`, 'signature_malformed'],
    [`${t},v1=${good.slice(0, 40)}`, 'signature_malformed'],
    [`${t},v1=${good}00`, 'signature_malformed'],
    [`${t},v1=zz${good.slice(2)}`, 'signature_malformed'],
    [`${t},v1=${good}=`, 'signature_malformed'],
    [`${t},v1=["${good}"]`, 'signature_malformed'],
    [`${t},v1=${hmac(body)}`, 'signature_mismatch'],
    [`t=${nowSeconds + 1},${fresh}`, 'signature_mismatch'],
    [`${t},v1=${'0'.repeat(64)}`, 'signature_mismatch'],
    [`${t},v1=0e${'1'.repeat(62)}`, 'signature_mismatch'],
    ...['undefined', 'null', '[object Object]', 'false', ''].map(
      (key) => [`${t},v1=${v1(nowSeconds, key)}`, 'signature_mismatch'] as const,
    ),
  ]
  for (const [header, reason] of cases) {
    assert.deepEqual(headerVerdict(header), refused(reason), header.slice(0, 120))
  }
})

test('a missing header, both headers at once and one of another name are refused', () => {
  assert.deepEqual(verdictOf({}), refused('signature_missing'))
  assert.deepEqual(verdictOf({ 'other-signature': whole }), refused('signature_missing'))
  for (const second of [whole, '']) {
    const headers = { 'acme-signature': whole, 'old-signature': second }
    assert.deepEqual(verdictOf(headers), refused('signature_header_repeated'))
  }
})

test('any byte of the body that is flipped, lost or added is refused', () => {
  const bytes = Buffer.from(body)
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(2))
  fc.assert(
    fc.property(change, ([at, mask, kind]) => {
      const flipped = Buffer.from([(bytes[at] ?? 0) ^ mask])
      const added = Buffer.concat([flipped, bytes.subarray(at, at + 1)])
      const middle = [flipped, Buffer.alloc(0), added][kind] ?? flipped
      const changed = Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(at + 1)])
      assert.deepEqual(headerVerdict(whole, { bytes: changed }), refused('signature_mismatch'))
    }),
  )
  const texts = ['', `${body}\n`, body.replaceAll('\n', '\r\n'), `\ufeff${body}`]
  for (const text of [...texts, JSON.stringify(JSON.parse(body))]) {
    const verdict = headerVerdict(whole, { bytes: Buffer.from(text) })
    assert.deepEqual(verdict, refused('signature_mismatch'))
  }
})

test('any character of the header that is changed or lost is refused', () => {
  const change = fc.tuple(fc.nat(whole.length - 1), fc.string({ maxLength: 2 }))
  fc.assert(
    fc.property(change, ([at, text]) => {
      const changed = whole.slice(0, at) + text + whole.slice(at + 1)
      fc.pre(changed !== whole)
      const verdict = headerVerdict(changed)
      assert.ok('valid' in verdict && !verdict.valid, changed)
    }),
  )
})

test('during a rotation every secret counts, and afterwards the old one does not', () => {
  const both = credentialsOf(['the_new_one', signingSecret])
  assert.deepEqual(headerVerdict(whole, { using: both }), { valid: true, secret: 2 })
  const rotated = credentialsOf(['the_new_one'])
  assert.deepEqual(headerVerdict(whole, { using: rotated }), refused('signature_mismatch'))
})

test('without a secret everything is refused', () => {
  const bare: Credentials = { secrets: {}, settings: {}, configured: false }
  for (const header of [whole, `t=${nowSeconds},v1=${v1(nowSeconds, '')}`]) {
    assert.deepEqual(headerVerdict(header, { using: bare }), refused('not_configured'))
    const empty = credentialsOf([])
    assert.deepEqual(headerVerdict(header, { using: empty }), refused('not_configured'))
  }
})
