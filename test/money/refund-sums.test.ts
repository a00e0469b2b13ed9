import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { dispute, refund, refundedTotal } from '../support/statements.ts'
import { stating } from '../support/stating-gateway.ts'
import { scriptedGateway, type Script } from './scripted.ts'

onAnyDatabase((engine) => {
  let billing: StatedBilling
  const script: Script = {}
  before(async () => {
    const { partialRefund: _, ...wholeOnly } = scriptedGateway(script)
    billing = await openStated(engine, {
      extraGateways: [stating, scriptedGateway(script), { ...wholeOnly, name: 'whole-only' }],
    })
  })
  after(() => billing.close())

  const createPaid = async (gateway = 'scripted') => {
    script.open = async () => ({ url: 'https://provider.example/pay' })
    const payment = await billing.create({ gateway })
    const money = { amount: 10_000n, currency: 'USD' }
    await billing.sayBy(gateway, {
      type: 'payment',
      payment: { id: payment.id },
      status: 'paid',
      ...money,
    })
    return payment
  }
  const shown = async ({ id }: Payment) => {
    const found = await billing.core.payments.get(id)
    const { data } = await billing.core.payments.list({ limit: 100 })
    const listed = data.find((one) => one.id === id)
    assert.deepEqual([listed?.refunded, listed?.refundable], [found?.refunded, found?.refundable])
    return [found?.refunded, found?.refundable]
  }
  /** The code of the refusal, if it is one. */
  const refundOf = ({ id }: Payment, amount?: bigint) =>
    billing.core.refunds.create(id, amount === undefined ? {} : { amount }).then(
      () => undefined,
      (error: unknown) => (isQuittanceError(error) ? error.code : error),
    )
  const answers = (status: 'paid' | 'pending' | 'failed') => {
    script.refund = async () => ({ status })
  }

  test('list and show say what was refunded and what refunds.create still accepts', async () => {
    const payment = await createPaid()
    assert.deepEqual(await shown(payment), [0n, 10_000n])
    answers('paid')
    assert.equal(await refundOf(payment, 1_000n), undefined)
    assert.deepEqual(await shown(payment), [1_000n, 9_000n])
    answers('pending')
    assert.equal(await refundOf(payment, 2_000n), undefined)
    assert.deepEqual(await shown(payment), [1_000n, 7_000n], 'one under way counts as made')
    answers('failed')
    assert.equal(await refundOf(payment, 3_000n), 'refund_refused')
    assert.deepEqual(await shown(payment), [1_000n, 7_000n], 'one that failed does not')
    assert.equal(await refundOf(payment, 7_001n), 'refund_too_large')
    answers('paid')
    assert.equal(await refundOf(payment), undefined)
    assert.deepEqual(await shown(payment), [8_000n, 0n])
  })

  test('nothing is refundable of what is not paid, is a refund itself, or was returned twice', async () => {
    const unpaid = await billing.create({ gateway: 'scripted' })
    assert.deepEqual(await shown(unpaid), [0n, 0n])
    const payment = await createPaid()
    answers('paid')
    const { id } = await billing.core.refunds.create(payment.id, { amount: 4_000n })
    const found = await billing.core.payments.get(id)
    assert.deepEqual([found?.refunded, found?.refundable], [0n, 0n])
    // The first one is the refund that was just made.
    for (const reference of ['re_1', 're_2', 're_3']) {
      await billing.sayBy('scripted', { ...refund(payment, reference), amount: 4_000n })
    }
    assert.deepEqual(await shown(payment), [12_000n, 0n])
  })

  test('what a dispute takes is not refundable, unless it is won; the refusal names it', async () => {
    const payment = await createPaid()
    const say = (status: 'open' | 'won' | 'lost', reference = 'du_sums', amount?: bigint) =>
      billing.sayBy('scripted', dispute(payment, reference, { status, ...(amount && { amount }) }))
    await say('open', 'du_sums', 4_000n)
    assert.deepEqual(await shown(payment), [0n, 6_000n])
    answers('paid')
    await assert.rejects(billing.core.refunds.create(payment.id, { amount: 6_001n }), {
      code: 'refund_too_large',
      message: /60\.00 USD is left to refund, for it is disputed: du_sums$/,
    })
    assert.equal(await refundOf(payment, 6_000n), undefined)
    await say('won', 'du_sums', 4_000n)
    assert.deepEqual(await shown(payment), [6_000n, 4_000n])
    // Its sum is not known, so it may be all of it.
    await say('lost', 'du_unknown')
    assert.deepEqual(await shown(payment), [6_000n, 0n])
    assert.equal(await refundOf(payment), 'refund_too_large')
  })

  test('nothing is refundable where the gateway cannot do it, or not in part', async () => {
    assert.deepEqual(await shown(await billing.createPaid()), [0n, 0n])
    const payment = await createPaid('whole-only')
    assert.deepEqual(await shown(payment), [0n, 10_000n])
    await billing.sayBy('whole-only', refundedTotal(payment, 1_000n))
    assert.deepEqual(await shown(payment), [1_000n, 0n])
    assert.equal(await refundOf(payment), 'operation_unsupported')
  })

  test('a payment alone is without these sums', async () => {
    const payment = await createPaid()
    const found = await billing.core.payments.find(payment.id)
    assert.ok(found)
    for (const one of [payment, found, found.toJSON()]) assert.ok(!('refunded' in one))
  })
})
