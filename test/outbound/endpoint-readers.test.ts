import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { secret } from '../../src/kernel/secret.ts'
import { apiToken, startService } from '../http/service.ts'

const readToken = 'token-that-only-reads-in-this-test'

test('the token that may only read sees no path of an endpoint’s URL; odd names are not found', async () => {
  await using service = await startService({
    billing: { billing: { encryptionKey: randomBytes(32).toString('base64') } },
    app: { readToken: secret(readToken) },
  })
  const url = 'http://127.0.0.1:9/services/T0/as-good-as-a-password?token=word'
  await service.core.endpoints.create({ name: 'chat', url })
  const ask = async (path: string, token: string) => {
    const answer = await service.api(path, { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, text: await answer.text() }
  }
  for (const path of ['/endpoints', '/endpoints/chat']) {
    assert.ok((await ask(path, apiToken)).text.includes(JSON.stringify(url)))
    const { status, text } = await ask(path, readToken)
    assert.equal(status, 200)
    assert.ok(text.includes('"http://127.0.0.1:9"'))
    assert.ok(!text.includes('password') && !text.includes('word'))
  }
  for (const name of ['%00', 'Chat', '%EF%BF%BD', 'a'.repeat(65)]) {
    assert.equal((await ask(`/endpoints/${name}`, readToken)).status, 404, name)
    assert.equal((await ask(`/endpoints/${name}/attempts`, readToken)).status, 404, name)
  }
})
