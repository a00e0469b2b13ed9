import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { secret } from '../kernel/secret.ts'
import { newSecretText } from './secrets.ts'
import { signedHeaders, signingKey } from './sign.ts'

const body = JSON.stringify({ type: 'PaymentSucceeded', text: 'Ж 😀 \u2028 \u2029 é' })

test('the library of the standard takes what is signed: UTF-8, U+2028, either of two secrets (11)', () => {
  const texts = [newSecretText(), newSecretText()]
  const headers = { ...signedHeaders({ id: 'one', body }, texts.map(secret), new Date()) }
  for (const text of texts)
    assert.deepEqual(new Webhook(text).verify(body, headers), JSON.parse(body))
  assert.throws(() => new Webhook(newSecretText()).verify(body, headers), /No matching signature/)
  for (let at = 0; at < body.length; at += 7) {
    const other = `${body.slice(0, at)}#${body.slice(at + 1)}`
    assert.throws(() => new Webhook(texts[0] ?? '').verify(other, headers), /No matching/)
  }
  const renamed = { ...headers, 'webhook-id': 'two' }
  assert.throws(() => new Webhook(texts[0] ?? '').verify(body, renamed), /No matching/)
})

test('the vector that Svix publishes with its library comes out (11)', () => {
  // Source: https://docs.svix.com/receiving/verifying-payloads/how-manual
  const given = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const key = secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const headers = signedHeaders(given, [key], new Date(1_614_265_330_000))
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('a secret is `whsec_` and 24 to 64 bytes of base64, and a mistyped one is none', () => {
  const of = (length: number) => `whsec_${Buffer.alloc(length, 1).toString('base64')}`
  for (const length of [24, 32, 64]) assert.equal(signingKey(of(length))?.length, length)
  for (const text of [of(23), of(65), 'whsec_', of(32).slice(6), `${of(32)}!`, ` ${of(32)}`]) {
    assert.equal(signingKey(text), undefined, text)
  }
})

test('nothing of a secret is in JSON, or in what is printed (26)', () => {
  const text = newSecretText()
  const shown = inspect({ one: secret(text) }, { depth: 9, showHidden: true })
  assert.ok(!`${JSON.stringify([secret(text)])}${shown}`.includes(text.slice(6)))
})
