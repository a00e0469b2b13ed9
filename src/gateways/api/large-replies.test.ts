import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createGzip } from 'node:zlib'
import { isQuittanceError } from '../../kernel/errors.ts'
import { createProviderApi } from './provider-api.ts'

const mebibyte = 1024 * 1024
/** Spaces, so that what is within the limit is JSON. */
const spaces = Buffer.alloc(mebibyte, ' ')

let server: Server
let base = ''

/** `/<status>/<MiB>/<plain or gzip>`: so much white space, and then a JSON object. */
before(async () => {
  server = createServer((request, response) => {
    const [, status, mebibytes, encoding] = (request.url ?? '').split('/')
    response.writeHead(Number(status), encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {})
    const body = encoding === 'gzip' ? createGzip({ level: 9 }) : response
    if (body !== response) body.pipe(response)
    void (async () => {
      for (let sent = 0; sent < Number(mebibytes) && !response.destroyed; sent += 1) {
        if (!body.write(spaces)) await once(body, 'drain')
      }
      body.end('{"a":1}')
    })()
    response.on('close', () => body.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const api = () => createProviderApi({ title: 'Stripe', base })
const answer = new Map([['a', { number: '1' }]])

async function codeOf(request: Promise<unknown>): Promise<string> {
  const error: unknown = await request.then(
    (value) => assert.fail(`it should have failed, but gave ${String(value)}`),
    (error: unknown) => error,
  )
  assert.ok(isQuittanceError(error), String(error))
  return error.code
}

test('a reply of up to 4 MiB is read, packed or not; one that is longer is no usable reply', async () => {
  for (const encoding of ['plain', 'gzip']) {
    assert.deepEqual(await api().get(`200/3/${encoding}`), answer)
    assert.equal(await codeOf(api().get(`200/4/${encoding}`)), 'provider_reply_invalid')
    const post = api().post(`200/4/${encoding}`, { json: {} })
    assert.equal(await codeOf(post), 'provider_reply_invalid')
  }
})

test('the status of an answer counts, however long it is', async () => {
  for (const status of [200, 402]) {
    assert.deepEqual(await api().answer('post', `${status}/3/gzip`), { status, body: answer })
    const tooLong = await api().answer('post', `${status}/4/gzip`)
    assert.deepEqual(tooLong, { status, body: undefined })
  }
  assert.equal(await codeOf(api().post('402/4/gzip', { json: {} })), 'provider_refused')
  assert.equal(await codeOf(api().post('503/4/gzip', { json: {} })), 'provider_unreachable')
  assert.equal(await api().get('404/4/gzip'), undefined)
})

test('a status beyond all that there are is a fault of the provider', async () => {
  assert.equal(await codeOf(api().post('999/0/plain', { json: {} })), 'provider_unreachable')
  assert.deepEqual(await api().answer('post', '999/0/plain'), { status: 599, body: answer })
})

test('400 MB that were packed into 400 kB do not get into memory, whatever the status', async () => {
  const { rss: before } = process.memoryUsage()
  for (const status of [200, 402]) {
    await codeOf(api().post(`${status}/400/gzip`, { json: {} }))
    await api().answer('post', `${status}/400/gzip`)
  }
  const most = process.resourceUsage().maxRSS * 1024
  assert.ok(most - before < 150 * mebibyte, `the process grew by ${(most - before) / mebibyte} MiB`)
})
