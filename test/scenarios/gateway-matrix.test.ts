import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { newPayment, openBilling, idle, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

// Every gateway's paid callback, rightly signed and with the right id, amount and currency, at
// every gateway's payment.

const gateways = Object.fromEntries(
  builtin.map((gateway) => [gateway.name, testCredentials(gateway)]),
)

function paidCallback(gateway: Gateway, payment: Payment, own: boolean) {
  const { signer } = gateway
  assert.ok(signer)
  const config = gateways[gateway.name] ?? {}
  return signer.sign({
    scenario: Object.keys(signer.scenarios)[0] ?? '',
    credentials: readCredentials(gateway, {}, { production: false, config }),
    now: new Date(),
    newId: newUuid,
    payment: {
      ...payment,
      checkoutReference: own ? payment.checkoutReference : null,
      merchantAccount: null,
      live: null,
    },
  })
}

/** Where payments must know their checkout. */
function boundTo({ signer }: Gateway, id: string) {
  const checkoutReference = signer?.checkoutReferenceOf?.(id)
  return checkoutReference === undefined ? {} : { checkoutReference }
}

onAnyDatabase((engine) => {
  let opened: TestBilling
  before(async () => {
    opened = await openBilling(engine, { gateways })
    await opened.core.work()
  })
  after(() => opened.close())

  test('a payment of each gateway is settled by that one alone; whatever was not settled says why', async () => {
    const { core } = opened
    const sent: { readonly payer: string; readonly sender: string; readonly id: string }[] = []
    for (const payer of builtin) {
      for (const sender of builtin) {
        const id = newUuid()
        const payment = await newPayment(core, { id, gateway: payer.name, ...boundTo(payer, id) })
        const { headers, body } = paidCallback(sender, payment, payer === sender)
        const answer = await core.receive({
          gateway: sender.name,
          target: `/billing/webhooks/${sender.name}`,
          headers,
          body: Buffer.from(body),
        })
        assert.equal(answer.status, 200, `${sender.name} at ${payer.name}`)
        sent.push({ payer: payer.name, sender: sender.name, id })
      }
    }
    await idle(core)
    for (const { payer, sender, id } of sent) {
      const status = (await core.payments.get(id))?.status
      assert.equal(status, payer === sender ? 'paid' : 'pending', `${sender} at ${payer}`)
    }
    const { data } = await core.calls.list({ state: 'ignored', limit: 100 })
    const reasons = new Set(
      data
        .flatMap(({ outcome }) => outcome ?? [])
        .map((one) => ('reason' in one ? one.reason : one.result)),
    )
    assert.equal(data.length, builtin.length * (builtin.length - 1))
    assert.deepEqual([...reasons], ['gateway_mismatch'])
  })
})
