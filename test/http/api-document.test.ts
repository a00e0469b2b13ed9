import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { read } from '../tidy/source-files.ts'
import { maxBodyBytes, startService, type Service } from './service.ts'

let service: Service
before(async () => {
  service = await startService({ work: false })
})
after(() => service[Symbol.asyncDispose]())

const path = '/billing/api/openapi.json'

test('the document of the API is answered to anybody, and to nobody from a cache', async () => {
  const answer = await fetch(service.listening.url + path)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.deepEqual(await answer.json(), JSON.parse(read('src/http/api/openapi.json')))
  const head = await fetch(service.listening.url + path, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('it can only be read, and what is beside it needs the token', async () => {
  const post = await fetch(service.listening.url + path, { method: 'POST' })
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  for (const beside of [`${path}/`, `${path}.gz`, '/billing/api/openapi']) {
    assert.equal((await fetch(service.listening.url + beside)).status, 401, beside)
  }
})

test('where there is no API there is no document of it', async () => {
  const app = createApp(service.core, { maxBodyBytes, webhookMiddleware: [], log: service.log })
  assert.equal((await app.request(path)).status, 404)
})
