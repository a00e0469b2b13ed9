import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'

const apiToken = 'token-for-everything-in-this-test'
const readToken = 'token-that-only-reads-in-this-test'
const withKey = { billing: { encryptionKey: randomBytes(32).toString('base64') } }
const url = 'http://127.0.0.1:9/services/T0/as-good-as-a-password?token=word'

function asking({ core }: TestBilling, options: Partial<AppOptions>) {
  const app = createApp(core, {
    maxBodyBytes: 100_000,
    webhookMiddleware: [],
    log: silentLog,
    ...options,
  })
  return async (path: string, token = '') => {
    const headers = { authorization: `Bearer ${token}` }
    return app.fetch(new Request(`http://127.0.0.1/billing/api${path}`, { headers }))
  }
}

/** An endpoint whose server repeats in its answer what it was asked. */
async function chatAnswers({ core, database }: TestBilling): Promise<void> {
  const { endpoint } = await core.endpoints.create({ name: 'chat', url })
  await sql`insert into billing.forward_attempts
    (id, endpoint_id, event_id, attempt, result, status, duration_ms, response)
    values (${newUuid()}::uuid, ${endpoint.id}::uuid, ${newUuid()}::uuid, 1, 'rejected', 404, 5,
      'Cannot POST /services/T0/as-good-as-a-password')`.execute(database.db)
}

const pathsWithIt = ['/endpoints', '/endpoints/chat', '/endpoints/chat/attempts']

let billing: TestBilling
before(async () => {
  billing = await openBilling(postgres, withKey)
  await chatAnswers(billing)
})
after(() => billing.close())

test('the token that may only read sees no path of an endpoint’s URL; odd names are not found', async () => {
  const tokens = { apiToken: [secret(apiToken)], readToken: [secret(readToken)] }
  const ask = asking(billing, tokens)
  for (const path of pathsWithIt) {
    assert.match(await (await ask(path, apiToken)).text(), /as-good-as-a-password/)
    const answer = await ask(path, readToken)
    assert.equal(answer.status, 200)
    assert.doesNotMatch(await answer.text(), /password|word/)
  }
  assert.match(await (await ask('/endpoints/chat', readToken)).text(), /"http:\/\/127.0.0.1:9"/)
  for (const name of ['%00', 'Chat', '%EF%BF%BD', 'a'.repeat(65)]) {
    assert.equal((await ask(`/endpoints/${name}`, readToken)).status, 404, name)
    assert.equal((await ask(`/endpoints/${name}/attempts`, readToken)).status, 404, name)
  }
})

test('a viewer of the app’s own guard sees as little of it', async () => {
  let role: 'viewer' | 'operator' = 'viewer'
  const ask = asking(billing, { authenticate: () => ({ name: 'ops-1', role }) })
  const seen = () => Promise.all(pathsWithIt.map(async (path) => (await ask(path)).text()))
  for (const text of await seen()) assert.doesNotMatch(text, /password/)
  role = 'operator'
  for (const text of await seen()) assert.match(text, /password/)
})

test('readers of the stream who go away in an app’s own server leave their places', async () => {
  const ask = asking(billing, { apiToken: [secret(apiToken)] })
  for (let count = 0; count < 210; count += 1) {
    const answer = await ask('/events/stream?after=end', apiToken)
    assert.equal(answer.status, 200, `the ${count + 1}th`)
    await answer.body?.cancel()
  }
})
