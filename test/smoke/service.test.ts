/** The few tests of `npm test` that start our program: that it starts, takes money and survives a kill. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { apiToken, createOverHttp, whileBusy } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { runCommand, startService } from '../support/process.ts'
import { sessionEvent, signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const id = '01890000-0000-7000-8000-00000000d00d'

async function paymentAt(url: string) {
  const answer = await fetch(`${url}/billing/api/payments/${id}`, {
    headers: { authorization: `Bearer ${apiToken}` },
  })
  return (await answer.json()) as { readonly status: string; readonly events: readonly unknown[] }
}

test('a signed callback pays a payment, and a killed service still knows it', async () => {
  using folder = temporaryFolder()
  fillDataFolder(join(folder.path, '.quittance'))
  const options = {
    cwd: folder.path,
    env: { BILLING_API_TOKEN: apiToken, STRIPE_SIGNING_SECRET: signingSecret },
  }
  const service = await startService(options)
  const { url } = service
  assert.ok(await createOverHttp(url, id, 'stripe'))
  const body = JSON.stringify(sessionEvent({ payment: { id, amount: 100n, currency: 'UAH' } }))
  const post = (headers: Record<string, string>) =>
    whileBusy(
      async () =>
        (await fetch(`${url}/billing/webhooks/stripe`, { method: 'POST', headers, body })).status,
    )
  assert.equal(await post(signedHeaders(body, 'whsec_of_somebody_else_0123456789')), 403)
  assert.equal(await post(signedHeaders(body)), 200)
  await until(async () => (await paymentAt(url)).status === 'paid', { what: 'it is paid' })
  await service.kill()
  const again = await startService(options)
  assert.equal(await again.line(/A sample payment is pending/), await service.line(/A sample/))
  const { status, events } = await paymentAt(again.url)
  assert.deepEqual([status, events.length], ['paid', 1])
  const { code, signal } = await again.stop()
  assert.deepEqual([code, signal], [0, null])
})

test('a command is a process that ends with its exit code', async () => {
  const { code, stdout, stderr } = await runCommand(['payments', 'list', '--limit', '0'])
  assert.deepEqual([code, stdout, stderr.length], [2, [], 1])
})
