import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { typedCommands } from '../docs/markdown.ts'
import { embedded } from '../support/databases.ts'
import { runHosted } from '../support/command-host.ts'
import { root } from '../tidy/source-files.ts'
import { complaintsOf, settlesOnce, startExample } from './example.ts'

for (const file of ['hono.ts', 'express.ts', 'fastify.ts', 'node-http.ts']) {
  test(`examples/apps/${file} takes a signed callback, settles it once, and ends in order`, async () => {
    await using example = await startExample(`examples/apps/${file}`, embedded)
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

test('the commands of the pages work beside the app, wherever it listens', async () => {
  await using example = await startExample('examples/apps/express.ts', embedded)
  const { running, url, core, dataDir } = example
  let id = ''
  for (const line of typedCommands('docs/start/express.md')) {
    const { code, stdout, stderr } = await runHosted(line.replace('ID', id).split(' '), {
      cwd: join(root, 'examples/apps'),
      env: { BILLING_DATA_DIR: dataDir },
    })
    assert.equal(code, 0, stderr.join('\n'))
    if (line.startsWith('send ')) await running.line(/^paid: order 42$/)
    const [payment] = (await core.payments.list()).data
    assert.ok(payment)
    id = payment.id
    assert.ok(payment.checkoutUrl?.startsWith(`${url}/`), String(payment.checkoutUrl))
    if (line.startsWith('refund ')) assert.equal(payment.refunded, 1999n)
    else assert.ok(line.startsWith('send ') || stdout.join('').includes(id))
  }
})
