import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callbackAt, requireConsent, sendTarget } from './send-callback.ts'

const own = 'https://pay.example.com'

test('a signed callback goes to this machine, at any port, or to the origin of our own', () => {
  for (const url of [
    'http://127.0.0.1:3311/billing/webhooks/fake',
    'http://127.8.9.10/',
    'http://[::1]:3000/hook',
    'http://LOCALHOST:3000/hook',
    'https://pay.example.com/billing/webhooks/stripe',
    'https://pay.example.com:443/hook?a=b',
  ]) {
    assert.equal(sendTarget(url, [own]), new URL(url).href)
  }
})

test('it goes nowhere else, however the URL is written', () => {
  for (const url of [
    'https://evil.example/',
    'http://127.0.0.1@evil.example/',
    'http://127.0.0.1:80@evil.example/',
    'https://pay.example.com@evil.example/',
    'https://pay.example.com.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://evil.example\\@127.0.0.1/',
    'http://evil.example#@127.0.0.1/',
    'http://10.0.0.7/',
    'http://0.0.0.0:3000/',
    'http://shop.local/',
    // Another scheme or port may be somebody else's.
    'http://pay.example.com/',
    'https://pay.example.com:8443/',
  ]) {
    const code = { code: 'send_url_foreign', fix: /APP_URL/ }
    assert.throws(() => sendTarget(url, [own]), code, url)
  }
})

test('what is no URL of the web is a slip of the command line', () => {
  for (const url of ['', 'localhost:3000/hook', '/hook', 'ftp://127.0.0.1/', 'file:///etc/hosts']) {
    assert.throws(() => sendTarget(url, [own]), { code: 'usage' }, url)
  }
})

test('an origin alone means the callback URL there; any other URL is meant as it is', () => {
  const path = '/billing/webhooks/stripe'
  assert.equal(callbackAt('http://127.0.0.1:3311/', path), `http://127.0.0.1:3311${path}`)
  for (const url of [
    'http://127.0.0.1:3311/hook',
    'http://127.0.0.1:3311/?a=b',
    'http://user@127.0.0.1:3311/',
  ]) {
    assert.equal(callbackAt(url, path), url)
  }
})

test('in production somebody must have said yes', () => {
  assert.throws(() => requireConsent(true, false), { code: 'send_in_production', fix: /--yes/ })
  for (const [production, yes] of [
    [true, true],
    [false, false],
    [false, true],
  ] as const) {
    requireConsent(production, yes)
  }
})
