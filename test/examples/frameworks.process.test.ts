import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embedded } from '../support/databases.ts'
import { complaintsOf, settlesOnce, startExample } from './example.ts'

for (const file of ['hono.ts', 'express.ts', 'fastify.ts', 'node-http.ts']) {
  test(`examples/${file} takes a signed callback, settles it once, and ends in order`, async () => {
    await using example = await startExample(`examples/${file}`, embedded)
    const { running, url, core } = example
    await settlesOnce(core, url, fetch)

    const route = `${url}/billing/webhooks/stripe`
    assert.equal((await fetch(route)).status, 405)
    assert.equal((await fetch(route, { method: 'HEAD' })).status, 405)
    assert.equal(await (await fetch(url)).text(), 'The rest of the app.')

    await core.close()
    const { code, stdout, stderr } = await running.stop()
    assert.equal(code, 0)
    assert.deepEqual(stdout, [`listening on ${url}`, 'paid: order 42'])
    const [refused = '', ...others] = complaintsOf(stderr)
    assert.match(refused, /"callback refused"/)
    assert.deepEqual(others, [])
  })
}
