import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createBilling } from '../../src/index.ts'
import { createCore } from '../../src/billing/create-core.ts'
import { readSettings } from '../../src/billing/settings.ts'
import { installReader } from '../../src/http/api/docs-page.ts'
import { createApp } from '../../src/http/app.ts'
import { secret } from '../../src/kernel/secret.ts'
import { read } from '../tidy/source-files.ts'
import { apiToken, capturedLog, maxBodyBytes } from './service.ts'

// No route here asks the database, so it is never opened.
const core = createCore({ database: { memory: true } })
const { log, logged } = capturedLog()
const options = { maxBodyBytes, webhookMiddleware: [], log }
const app = createApp(core, { ...options, apiToken: [secret(apiToken)] })
const path = '/billing/api/openapi.json'

test('the document of the API is answered to anybody, and to nobody from a cache', async () => {
  const answer = await app.request(path)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.deepEqual(await answer.json(), JSON.parse(read('src/http/api/openapi.json')))
  const head = await app.request(path, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('it can only be read, and what is beside it needs the token', async () => {
  const post = await app.request(path, { method: 'POST' })
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  for (const beside of [`${path}/x`, `${path}.gz`, '/billing/api/openapi']) {
    assert.equal((await app.request(beside)).status, 401, beside)
  }
})

test('where there is no API there is no document of it', async () => {
  assert.equal((await createApp(core, options).request(path)).status, 404)
})

describe('the page of the API', () => {
  const askFor = (page: string, apiDocs?: boolean) => {
    const shown = apiDocs === undefined ? {} : { apiDocs }
    const asked = createApp(core, { ...options, ...shown, apiToken: [secret('a token')] })
    return asked.request(`/billing/api/${page}`)
  }

  test('where it is off, it is as any path that needs the token', async () => {
    for (const page of ['docs', 'docs/reader.js']) {
      assert.equal((await askFor(page, false)).status, 401)
      assert.equal((await askFor(page)).status, 401)
    }
  })

  test('without the package that draws it, it says which one to install, and the log why', async () => {
    const before = logged.length
    const answer = await askFor('docs', true)
    assert.equal(answer.status, 404)
    const { message } = (await answer.json()) as { readonly message: string }
    assert.equal(message, `this page needs the package @scalar/api-reference: ${installReader}`)
    assert.ok(read('docs/16-api.md').includes(`\`${installReader}\``))
    assert.match(logged.slice(before).join(''), /Cannot find package '@scalar/)
    const other = createApp(core, { ...options, apiDocs: true, apiToken: [secret('a token')] })
    for (const page of ['docs', 'docs', 'docs/reader.js']) {
      assert.equal((await other.request(`/billing/api/${page}`)).status, 404)
    }
    const again = logged.slice(before).join('')
    assert.equal(again.match(/cannot be drawn/g)?.length, 2, 'once for each service')
  })

  test('an app has it before its own guard in development, and behind it in production', async () => {
    const answered = async (given: object) => {
      await using billing = createBilling({ api: { authenticate: () => undefined }, ...given })
      const page = await billing.fetch(new Request('http://shop.example/billing/api/docs'))
      const path = 'http://shop.example/billing/api/openapi.json'
      return [page.status, (await billing.fetch(new Request(path))).status]
    }
    assert.deepEqual(await answered({ database: { memory: true } }), [404, 200])
    const production = { production: true, database: { url: 'postgres://db/billing' } }
    assert.deepEqual(await answered(production), [403, 200])
    assert.deepEqual(await answered({ ...production, apiDocs: true }), [404, 200])
  })

  test('a setting shows it; without one it is off under the production rules', () => {
    const production = { production: true, database: { url: 'postgres://db/billing' } }
    assert.equal(readSettings({}).apiDocs, true)
    assert.equal(readSettings({ apiDocs: false }).apiDocs, false)
    assert.equal(readSettings(production).apiDocs, false)
    assert.equal(readSettings({ ...production, apiDocs: true }).apiDocs, true)
  })
})
