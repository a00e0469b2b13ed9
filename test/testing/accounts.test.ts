import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRecorded } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { signing } from './signed-gateway.ts'

onPostgres((engine) => {
  test('a test billing signs for accounts as for their gateways, each with values of its own', async () => {
    const names = signing.map(({ name }) => name)
    const drivers = names.filter((name) => !['fake', 'acme'].includes(name))
    const accounts = drivers.map((driver) => [`${driver}-eu`, { driver }])
    await using billing = await openRecorded(engine, {
      gateways: Object.fromEntries(accounts) as Record<string, { driver: string }>,
      environment: {
        BILLING_GATEWAYS: drivers.map((driver) => `${driver}-us:${driver}`).join(','),
      },
    })
    const all = drivers.flatMap((driver) => [driver, `${driver}-eu`, `${driver}-us`])
    for (const gateway of all) {
      const payment = await billing.createPayment({ gateway })
      assert.equal((await billing.send(payment)).status, 200, gateway)
      await billing.idle({ withinMs: 60_000 })
      assert.equal((await billing.billing.payments.get(payment.id))?.status, 'paid', gateway)
    }
    // With the values of one nothing is signed for another.
    for (const driver of drivers) {
      const [own, ...others] = [driver, `${driver}-eu`, `${driver}-us`]
      const payment = await billing.createPayment({ gateway: own ?? '' })
      for (const other of others) {
        const { url, headers, body } = billing.signedRequest(own ?? '', { payment })
        const forged = new Request(url.replace(/[^/]+$/, other), {
          method: 'POST',
          headers,
          body: await new Response(body).arrayBuffer(),
        })
        assert.equal((await billing.deliver(forged)).status, 403, `${own} at ${other}`)
      }
    }
  })
})
