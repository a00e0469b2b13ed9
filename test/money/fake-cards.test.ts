import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { chargeCard, type ChargeResult } from '../../src/money/charge-cards.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { createPayment } from '../../src/checkout/create-payment.ts'
import { readPaymentInput } from '../../src/checkout/payment-input.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { createApp } from '../../src/http/app.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { idle, openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { muchPatience } from '../support/patience.ts'

const origin = 'http://127.0.0.1:3000'

onAnyDatabase((engine) => {
  let billing: TestBilling
  let context: MoneyContext
  let paymentMethodId: string
  const input = (fields: Partial<CreatePaymentInput>): CreatePaymentInput => ({
    gateway: 'fake',
    amount: 1999,
    currency: 'UAH',
    payable: { type: 'order', id: '42' },
    ...fields,
  })
  const details = async ({ id }: Pick<Payment, 'id'>) => {
    const found = await billing.core.payments.get(id)
    assert.ok(found)
    return found
  }
  const press = async (payment: Payment, result: 'success' | 'failure') => {
    const app = createApp(billing.core, {
      maxBodyBytes: 1024,
      webhookMiddleware: [],
      log: silentLog,
    })
    const body = new URLSearchParams({ result })
    const path = new URL(payment.checkoutUrl ?? '').pathname
    const answer = await app.request(path, { method: 'POST', body })
    assert.equal(answer.status, 303)
    await idle(billing.core)
  }
  before(async () => {
    billing = await openBilling(engine, { url: origin, providerTimeoutMs: 120_000 })
    await billing.core.work()
    context = await billing.runtime.entitledContext()
    const first = await billing.core.payments.create(input({ saveCard: true }))
    await press(first, 'success')
    const [card, ...more] = (await details(first)).paymentMethods
    assert.deepEqual([card?.status, card?.gateway, more], ['attached', 'fake', []])
    paymentMethodId = card?.id ?? ''
  })
  after(() => billing.close())

  /** Charges so much of the card that was saved. */
  const charge = async (
    amount: number,
    { card = paymentMethodId, answerWithin = context.answerWithin } = {},
  ): Promise<ChargeResult> => {
    const { gateways } = context.processing
    const creation = { ...context, gateways, token: newUuid(), isAllowedReturn: () => true }
    const read = readPaymentInput(input({ amount, paymentMethodId: card }))
    const { payment } = await createPayment(billing.database.db, creation, read)
    return chargeCard(payment, 'merchant', { ...context, answerWithin })
  }
  /** What a poll by a process of its own finds, so much later. */
  const pollLater = async ({ id }: Payment, minutes: number) => {
    await sql`update billing.payments
      set handed_at = handed_at - make_interval(mins => ${minutes}::int),
        created_at = created_at - make_interval(mins => ${minutes}::int),
        expires_at = expires_at - make_interval(mins => ${minutes}::int)
      where id = ${id}`.execute(billing.database.db)
    if (billing.url === undefined) return (await billing.core.payments.poll(id)).payment
    const { url } = billing
    const restarted = createCore({ url: origin, database: { url } }, { patience: muchPatience })
    const { payment } = await restarted.payments.poll(id)
    await restarted.close()
    return payment
  }
  const standingOf = ({ status, checkout }: Payment) => `${status} ${checkout}`

  test('a payer whose card is not to be saved saves none', async () => {
    const payment = await billing.core.payments.create(input({}))
    await press(payment, 'success')
    const { status, paymentMethods } = await details(payment)
    assert.deepEqual([status, paymentMethods], ['paid', []])
  })

  for (const [amount, kind, now, later] of [
    [1999, 'paid', 'paid closed', 'paid closed'],
    [1901, 'declined soft', 'failed closed', 'failed closed'],
    [1902, 'declined hard', 'failed closed', 'failed closed'],
    [1903, 'declined authentication', 'failed closed', 'failed closed'],
    [1904, 'pending', 'pending open', 'pending open'],
    [1905, 'pending', 'pending open', 'pending open'],
    [1906, 'refused_by_us', 'canceled refused', 'canceled refused'],
    [1907, 'unknown', 'pending unknown', 'canceled closed'],
    [1908, 'unknown', 'pending unknown', 'paid closed'],
    [1909, 'unknown', 'pending unknown', 'paid closed'],
    [1911, 'pending', 'pending open', 'paid closed'],
    [1912, 'pending', 'pending open', 'failed closed'],
    [1913, 'declined soft', 'failed closed', 'paid closed'],
  ] as const) {
    test(`a charge of ${amount} is ${kind}, and ${later} as a poll finds it after a restart`, async () => {
      // Nothing answers: any time is enough.
      const result = await charge(amount, { ...(kind === 'unknown' && { answerWithin: 20 }) })
      const decline = result.kind === 'declined' ? ` ${result.decline}` : ''
      assert.equal(`${result.kind}${decline}`, kind)
      assert.equal(standingOf(result.payment), now)
      assert.equal(standingOf(await pollLater(result.payment, 20)), later)
    })
  }

  describe('what has to be confirmed', () => {
    test('is confirmed on the page, and saves nothing anew', async () => {
      const result = await charge(1904)
      assert.ok(result.kind === 'pending')
      assert.deepEqual([result.needsPayer, result.redirectUrl], [true, result.payment.checkoutUrl])
      await press(result.payment, 'success')
      const { status, checkout, paymentMethods } = await details(result.payment)
      assert.deepEqual([status, checkout, paymentMethods], ['paid', 'closed', []])
    })

    test('is over once it is declined there', async () => {
      const { payment } = await charge(1904)
      await press(payment, 'failure')
      assert.equal(standingOf(await details(payment)), 'failed closed')
    })

    test('is canceled after a day without the payer, wherever they could have confirmed it', async () => {
      for (const amount of [1904, 1905]) {
        const { payment } = await charge(amount)
        assert.equal(standingOf(await pollLater(payment, 25 * 60)), 'canceled closed')
      }
    })
  })

  test('a card of another name ends its charges so; once removed, it is charged no more', async () => {
    const saving = await billing.core.payments.create(input({}))
    const body = JSON.stringify({ payment_id: saving.id, result: 'success', card: 'hard' })
    const call = { gateway: 'fake', target: '/billing/webhooks/fake', headers: {} }
    assert.equal((await billing.core.receive({ ...call, body: Buffer.from(body) })).status, 200)
    await idle(billing.core)
    const [card] = (await details(saving)).paymentMethods
    assert.ok(card)
    const declined = await charge(1999, { card: card.id })
    assert.ok(declined.kind === 'declined')
    assert.deepEqual([declined.decline, declined.code], ['hard', 'stolen_card'])
    await billing.core.paymentMethods.remove(card.id)
    await assert.rejects(charge(1999, { card: card.id }), { code: 'payment_method_unusable' })
  })
})
