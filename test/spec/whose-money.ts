import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { callbackAbout, signing, type Changes } from './callbacks.ts'
import { ignoredAs, settles, type Service } from './callback-service.ts'

/** Declares the tests, on a service that others share. */
export function declareWhoseMoney(service: () => Service): void {
  describe('bad inputs, J: whose money it is', () => {
    declareAccounts(service)
    declareCharges(service)
    declareStrangers(service)
  })
}

function declareAccounts(service: () => Service): void {
  for (const [name, changes] of [
    ['liqpay', { status: '"sandbox"' }],
    ['hutko', { additional_info: JSON.stringify('{"capture_status":null,"is_test":true}') }],
    ['wayforpay', undefined],
  ] as const) {
    test(`${name}: a callback of the other mode settles nothing`, async () => {
      // WayForPay's mode is that of its account; the one of these tests is no test account.
      const payment = await service().pay(name, { live: changes !== undefined })
      const callback = callbackAbout(payment, { changes: changes ?? {} })
      assert.deepEqual(await service().send(payment, callback), ignoredAs('mode_mismatch', true))
    })
  }

  for (const [name, field] of [
    ['liqpay', 'public_key'],
    ['hutko', 'merchant_id'],
  ] as const) {
    test(`${name}: another merchant under our key settles nothing`, async () => {
      const payment = await service().pay(name)
      const changes: Changes = { [field]: '"17001234567"' }
      const result = await service().send(payment, callbackAbout(payment, { changes }))
      assert.deepEqual(result, ignoredAs('merchant_mismatch', true))
    })
  }
}

function declareCharges(service: () => Service): void {
  for (const { name } of signing.filter(
    ({ name }) => name !== 'wayforpay' && name !== 'monobank',
  )) {
    test(`${name}: one charge of the provider pays for one payment`, async () => {
      const first = await service().pay(name)
      assert.deepEqual(await service().send(first, callbackAbout(first)), settles)
      const paid = await service().core.payments.get(first.id)
      const { checkoutReference = null, providerReference = null } = paid ?? {}
      assert.ok(checkoutReference !== null || providerReference !== null)
      const second = await service().pay(name)
      const again = callbackAbout({ ...second, checkoutReference, providerReference })
      // Paddle's transaction names its payment, whatever its custom data claim.
      const repeated = { ...ignoredAs('already_paid', false), outcome: ['duplicate payment:paid'] }
      assert.deepEqual(
        await service().send(second, again),
        name === 'paddle' ? repeated : ignoredAs('provider_reference_taken', true),
      )
      assert.deepEqual(await service().send(second, callbackAbout(second)), settles)
    })
  }
}

function declareStrangers(service: () => Service): void {
  test('monobank: without an invoice of ours a callback settles nothing', async () => {
    const payment = await service().pay('monobank', { checkoutReference: undefined })
    const result = await service().send(payment, callbackAbout(payment))
    assert.deepEqual(result, ignoredAs('checkout_reference_unknown', true))
  })

  for (const gateway of signing.filter(({ signer }) => signer?.scenarios['renewed'])) {
    const { name } = gateway
    test(`${name}: the subscription of another gateway's payment is not renewed`, async () => {
      const owner = await service().pay(name === 'stripe' ? 'paddle' : 'stripe')
      const foreign = { ...owner, gateway: name, merchantAccount: null, live: null }
      const renewal = callbackAbout(foreign, { scenario: 'renewed' })
      const before = await countPayments(service())
      // Stripe's speaks of a document, too, whose payment is not there.
      const document = name === 'stripe' ? ['unknown_payment'] : []
      const refused = ignoredAs('gateway_mismatch', true)
      assert.deepEqual(await service().send(owner, renewal, name), {
        ...refused,
        outcome: [...(refused.outcome ?? []), ...document],
      })
      assert.equal(await countPayments(service()), before)
    })
  }

  test('an unknown payment is Ignored, and nothing is made', async () => {
    for (const { name } of signing) {
      const payment = await service().pay(name)
      const stranger = { ...payment, id: newUuid(), checkoutReference: null }
      const result = await service().send(payment, callbackAbout(stranger))
      assert.deepEqual(result.outcome, ['unknown_payment'], name)
      assert.deepEqual([result.payment, result.events], ['pending', []], name)
    }
  })
}

async function countPayments({ database: { db } }: Service): Promise<number> {
  const { count } = await db
    .selectFrom('billing.payments')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
