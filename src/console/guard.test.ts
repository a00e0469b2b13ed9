import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { readForm } from './guard.ts'

const secure = 'https://admin.example.com'
const plain = 'http://admin.example.com'

/** What is read of a form that a page of this origin sends, by a browser that says only that. */
async function readFrom(origin: string, more: Readonly<Record<string, string>> = {}) {
  const app = new Hono().post('/', async (c) =>
    c.json((await readForm(c, { core: { origin: 'https://pay.example.com' } })).kind),
  )
  const headers = {
    host: 'admin.example.com',
    'content-type': 'application/x-www-form-urlencoded',
    origin,
    ...more,
  }
  return (await app.request(`${plain}/`, { method: 'POST', headers, body: 'a=b' })).json()
}

test('over TLS a page of our host that came in the clear is of another site', async () => {
  const overTls = { 'x-forwarded-proto': 'https' }
  assert.equal(await readFrom(plain, overTls), 'refused')
  assert.equal(await readFrom(secure, overTls), 'read')
  assert.equal(await readFrom(plain, { host: 'pay.example.com' }), 'refused')
})

test('a page of our host is ours over plain HTTP, and behind a proxy that does not say TLS', async () => {
  assert.equal(await readFrom(plain), 'read')
  assert.equal(await readFrom(secure), 'read')
  assert.equal(await readFrom('ftp://admin.example.com'), 'refused')
  assert.equal(await readFrom('null'), 'refused')
})
