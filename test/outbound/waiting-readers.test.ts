import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'
import { until } from '../support/until.ts'

const apiToken = 'token-for-everything-in-this-test'
const readToken = 'token-that-only-reads-in-this-test'
const crowded = { code: 'feed_crowded' }

let billing: TestBilling
before(async () => {
  billing = await openBilling(postgres)
})
after(() => billing.close())

test('200 readers may wait, and one token leaves places to the others', async () => {
  const { core } = billing
  const app = createApp(core, {
    maxBodyBytes: 100_000,
    webhookMiddleware: [],
    log: silentLog,
    apiToken: [secret(apiToken)],
    readToken: [secret(readToken)],
  })
  const abort = new AbortController()
  const { signal } = abort
  const ask = (token: string, wait: number, ends = signal) => {
    const headers = { authorization: `Bearer ${token}` }
    const url = `http://127.0.0.1/billing/api/events?order=asc&wait=${wait}`
    return app.fetch(new Request(url, { headers, signal: ends }))
  }
  const isRefused = async (token: string) => {
    const answer = await ask(token, 50, AbortSignal.timeout(50))
    return answer.status === 503 && answer.headers.get('retry-after') !== null
  }
  const waiting = Array.from({ length: 150 }, async () => ask(readToken, 50))
  await until(() => isRefused(readToken), { what: 'the token has its places' })
  waiting.push(...Array.from({ length: 25 }, async () => ask(apiToken, 50)))
  await until(() => isRefused(apiToken), { what: 'the other token has its share' })
  const read = async () => core.events.feed({ wait: 50_000, signal })
  const inApp = Array.from({ length: 25 }, read)
  await assert.rejects(read, crowded)
  // Without a wait nobody needs a place.
  assert.equal((await ask(readToken, 0)).status, 200)
  abort.abort()
  await Promise.allSettled([...waiting, ...inApp])
  const page = await core.events.feed({ wait: 1 })
  assert.deepEqual(page.data, [])
})
