import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { startPaddle, type PaddleStandIn } from '../providers/paddle.ts'
import { onPostgres } from '../support/databases.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'

/** Paddle's custom data are the page's and the payer's to write: a transaction is known by its id. */
onPostgres((engine) => {
  let paddle: PaddleStandIn
  let billing: MoneyBilling
  before(async () => {
    paddle = await startPaddle()
    billing = await openMoney(engine, paddle)
  })
  after(async () => {
    await billing.close()
    await paddle.close()
  })

  const heldOf = (checkoutReference: string | null) => {
    const held = paddle.account.transactions.find(({ id }) => id === checkoutReference)
    assert.ok(held)
    return held
  }
  const codeOf = (error: unknown) => isQuittanceError(error) && error.code
  /** Opens a checkout whose answer is lost. */
  const createLost = async () => {
    const id = randomUUID()
    paddle.misbehave('checkout', 'cut')
    await assert.rejects(billing.create({ id }), (error) => codeOf(error) === 'checkout_unknown')
    const held = paddle.account.transactions.at(-1)
    assert.ok(held)
    return { id, held }
  }

  for (const lost of [true, false]) {
    for (const [what, dataOf] of [
      ['what the page counts visits by', () => ({ utm_source: 'mail' })],
      ['nothing', () => null],
      ['another payment of ours', (other: string) => ({ payment_id: other })],
      ['a payment of nobody', () => ({ payment_id: randomUUID() })],
      ['no id at all', () => ({ payment_id: ['x'] })],
    ] as const) {
      const callback = lost ? 'lost' : 'ignored'
      test(`custom data with ${what} instead, its callback ${callback}: a poll finds it paid`, async () => {
        const other = await billing.create()
        const payment = await billing.create()
        heldOf(payment.checkoutReference).customData = dataOf(other.id)
        paddle.pay(payment.id)
        if (!lost) await billing.deliver(paddle.paymentCallback(payment.id))
        await billing.pass(payment, 25)
        const { payment: polled } = await billing.core.payments.poll(payment.id)
        assert.deepEqual([polled.status, polled.pollError], ['paid', null])
        await billing.pass(payment, 31 * 24)
        await billing.core.payments.poll(payment.id)
        await billing.deliver(paddle.paymentCallback(payment.id))
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
        const { status, checkoutReference } = await billing.details(other)
        assert.deepEqual([status, checkoutReference], ['pending', other.checkoutReference])
      })
    }
  }

  test('a checkout that was never answered is found by its price, whatever its custom data say', async () => {
    const { id, held } = await createLost()
    held.customData = { utm_source: 'mail' }
    paddle.pay(id)
    await billing.core.payments.poll(id)
    const { status, checkoutReference } = await billing.details({ id })
    assert.deepEqual([status, checkoutReference], ['paid', held.id])
  })

  test('a payer who writes another payment into his own transaction does nothing to that one', async () => {
    const attacker = await billing.create()
    const { id, held } = await createLost()
    heldOf(attacker.checkoutReference).customData = { payment_id: id }
    for (const happen of ['decline', 'expire'] as const) {
      paddle[happen](attacker.id)
      const { payment } = await billing.core.payments.poll(id)
      assert.deepEqual([payment.status, payment.checkoutReference], ['pending', held.id])
    }
    paddle.pay(id)
    await billing.core.payments.poll(id)
    assert.equal((await billing.details({ id })).status, 'paid')
    assert.notEqual((await billing.details(attacker)).status, 'paid')
  })

  test('what the merchant opened by himself is found by custom data, and never what we opened', async () => {
    const attacker = await billing.create()
    const own = await billing.create({ checkout: false })
    heldOf(attacker.checkoutReference).customData = { payment_id: own.id }
    const { standing } = await billing.core.payments.poll(own.id)
    assert.equal(standing, 'absent')
    const held = heldOf(attacker.checkoutReference)
    const made = { ...held, id: held.id.replace('txn_01', 'txn_02'), priceName: 'A book' }
    paddle.account.transactions.push({ ...made, paymentId: own.id })
    paddle.pay(own.id)
    assert.equal((await billing.core.payments.poll(own.id)).payment.status, 'paid')
    assert.equal((await billing.details(attacker)).status, 'pending')
  })
})
