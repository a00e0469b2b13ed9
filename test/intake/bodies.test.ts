import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { receivedCalls, openBilling, idle, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { signedHeaders, signingSecret, stripeOptions } from '../support/stripe-callbacks.ts'
import { storedIds } from './store.ts'

/** Signs bytes that are no text, which Stripe's own package cannot. */
function signBytes(body: Uint8Array): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000)
  const hmac = createHmac('sha256', signingSecret).update(`${timestamp}.`).update(body)
  return { 'stripe-signature': `t=${timestamp},v1=${hmac.digest('hex')}` }
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const event = (fields: string) =>
  `{"id":"evt_1","object":"event","livemode":false,${fields},"data":{"object":{}}}`
const manyKeys = JSON.stringify(
  Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [n, n])),
)

/** Readable: the payload is the text as it came, and no bytes are kept beside it. */
const readable: Readonly<Record<string, string>> = {
  'pretty-printed, with tabs and CRLF': '{\r\n\t"object" : "event" ,\r\n  "type":"a"\r\n}\r\n',
  'white space around it': ' \n{"a": 1}\t ',
  null: 'null',
  true: 'true',
  'a number': '1',
  'a string': '"x"',
  'an empty array': '[]',
  'an empty object': '{}',
  'letters of all scripts': event('"type":"Сплачено 支付 مدفوع 🎉 é"'),
  'escapes that need not be': event('"type":"\\u0061\\/\\u00e9"'),
  'an escaped NUL': event('"type":"a\\u0000b"'),
  'lone surrogates': event('"type":"\\ud800 \\udc00\\ud800"'),
  'numbers beyond a double': event('"type":"a","n":[1e400,-1e200000,0.10,-0,1E+2]'),
  'a number of 900,000 digits': `{"n":${'7'.repeat(900_000)}}`,
  'a string of 1 MB': `{"s":"${'ж'.repeat(500_000)}"}`,
  '60,000 keys': manyKeys,
  'names of prototypes': '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}}}',
  'keys that differ in case': '{"a":1,"A":2}',
  'nesting of 64': nested(64),
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)))

/** Unreadable: stored as bytes, Ignored with this reason. */
const refused: Readonly<Record<string, readonly [Buffer, string]>> = {
  'nothing at all': [bytes(''), 'empty'],
  'nothing but a byte order mark': [bytes([0xef, 0xbb, 0xbf]), 'empty'],
  'two byte order marks': [bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], '{}'), 'invalid_json'],
  'UTF-16 without a mark': [Buffer.from('{"a":1}', 'utf16le'), 'nul_character'],
  'UTF-16 with a mark': [Buffer.from('\ufeff{"a":1}', 'utf16le'), 'invalid_utf8'],
  'UTF-7': [bytes('+AHsAIgBhACI-:1+AH0-'), 'invalid_json'],
  'a byte that is no UTF-8': [bytes('{"a":"', [0xff], '"}'), 'invalid_utf8'],
  'an overlong slash': [bytes('{"a":"', [0xc0, 0xaf], '"}'), 'invalid_utf8'],
  'a surrogate in UTF-8': [bytes('{"a":"', [0xed, 0xa0, 0x80], '"}'), 'invalid_utf8'],
  'a raw NUL': [bytes('{"a":"', [0], '"}'), 'nul_character'],
  'a raw line break in a string': [bytes('{"a":"\n"}'), 'invalid_json'],
  'the same key twice': [bytes('{"status":"failure","status":"success"}'), 'duplicate_key'],
  'the same key twice, once escaped': [bytes('{"a":1,"\\u0061":2}'), 'duplicate_key'],
  '__proto__ twice': [bytes('{"__proto__":1,"__proto__":2}'), 'duplicate_key'],
  'nesting of 65': [bytes(nested(65)), 'too_deep'],
  'nesting of 1,000': [bytes(nested(1_000)), 'too_deep'],
  'nesting of 100,000': [bytes(nested(100_000)), 'too_deep'],
  'a form': [bytes('payment=1&status=paid'), 'invalid_json'],
  XML: [bytes('<event/>'), 'invalid_json'],
  NaN: [bytes('{"a":NaN}'), 'invalid_json'],
  Infinity: [bytes('{"a":-Infinity}'), 'invalid_json'],
  'a leading zero': [bytes('{"a":01}'), 'invalid_json'],
  'a leading plus': [bytes('{"a":+1}'), 'invalid_json'],
  'a leading point': [bytes('{"a":.5}'), 'invalid_json'],
  'a comma at the end': [bytes('{"a":1,}'), 'invalid_json'],
  'a comment': [bytes('{"a":1/*b*/}'), 'invalid_json'],
  'two values': [bytes('{}{}'), 'invalid_json'],
}

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, { ...stripeOptions, url: 'https://pay.example.test' })
    await billing.core.work()
  })
  after(() => billing.close())

  async function sendSigned(body: Buffer, headers = signBytes(body)) {
    const { core } = billing
    const answer = await core.receive({
      gateway: 'stripe',
      target: '/billing/webhooks/stripe',
      headers,
      body,
    })
    assert.equal(answer.status, 200)
    assert.equal(answer.body, '{"message":"ok"}')
    await idle(core)
    const call = (await receivedCalls(core, { limit: 1 }))[0]
    assert.ok(call)
    assert.equal(call.state, 'ignored')
    assert.equal(call.outcome?.length, 1)
    const [result] = call.outcome ?? []
    assert.ok(result?.result === 'ignored')
    return { call, result }
  }

  for (const [what, text] of Object.entries(readable)) {
    test(`signed JSON with ${what} is stored as its exact text and Ignored`, async () => {
      const { call, result } = await sendSigned(Buffer.from(text), signedHeaders(text))
      assert.equal(call.kind, 'json')
      assert.ok(call.payload === text, 'the payload is not the text as it came')
      assert.equal(call.body, null)
      assert.match(result.reason, /^(malformed_payload|unhandled_event)$/)
    })
  }

  for (const [what, [body, reason]] of Object.entries(refused)) {
    test(`a signed body with ${what} is kept byte for byte and Ignored`, async () => {
      const { call, result } = await sendSigned(body)
      // JSON for the database: that a key comes twice shows when it is processed.
      const isText = reason === 'duplicate_key'
      assert.equal(call.kind, isText ? 'json' : 'unreadable')
      const kept = isText ? Buffer.from(call.payload ?? '') : call.body
      assert.ok(kept !== null && body.equals(kept), 'the bytes are not those that came')
      assert.equal(result.reason, 'unreadable_payload')
      assert.equal(result.detail, reason)
    })
  }

  test('of signed JSON behind a byte order mark both the text and the bytes are kept', async () => {
    const text = event('"type":"a"')
    const body = Buffer.from(`\ufeff${text}`)
    const { call, result } = await sendSigned(body)
    assert.equal(call.kind, 'json')
    assert.equal(call.payload, text)
    assert.ok(call.body !== null && body.equals(call.body))
    assert.equal(result.reason, 'unhandled_event')
  })

  test('no body above is accepted without its signature, and none of them is stored', async () => {
    const count = (await storedIds(billing.database)).length
    const bodies = [
      ...Object.values(readable).map((text) => Buffer.from(text)),
      ...Object.values(refused).map(([body]) => body),
    ]
    for (const body of bodies) {
      for (const headers of [{}, signBytes(Buffer.concat([body, Buffer.from(' ')]))]) {
        const request = { gateway: 'stripe', target: '/', headers, body }
        assert.equal((await billing.core.receive(request)).status, 403)
      }
    }
    assert.equal((await storedIds(billing.database)).length, count)
  })

  for (const [target, url] of [
    ['/billing/webhooks/stripe?a=1&b=%20', '/billing/webhooks/stripe?a=1&b=%20'],
    ['http://evil.example/billing/webhooks/stripe?a=1', '/billing/webhooks/stripe?a=1'],
    ['HTTPS://user:pw@evil.example:8443/x', '/x'],
    ['https://evil.example', '/'],
    ['//evil.example/x', '//evil.example/x'],
    ['@evil.example/x', '/@evil.example/x'],
    ['.evil.example/x', '/.evil.example/x'],
    [':8443/x', '/:8443/x'],
    ['', '/'],
  ] as const) {
    test(`the URL stored for the target ${JSON.stringify(target)} has our origin`, async () => {
      const { core } = billing
      const body = Buffer.from('{}')
      const headers = { ...signBytes(body), host: 'evil.example', 'x-forwarded-host': 'evil' }
      const answer = await core.receive({ gateway: 'stripe', target, headers, body })
      assert.equal(answer.status, 200)
      const stored = (await receivedCalls(core, { limit: 1 }))[0]?.url ?? ''
      assert.equal(stored, `https://pay.example.test${url}`)
      assert.equal(new URL(stored).origin, 'https://pay.example.test')
    })
  }
})
