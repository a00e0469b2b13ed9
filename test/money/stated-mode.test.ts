import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { startStripe } from '../providers/stripe.ts'
import { onPostgres } from '../support/databases.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'

/** The keys do not agree, so that only what the provider answers tells the mode of a payment. */
onPostgres((engine) => {
  let billing: MoneyBilling
  before(async () => {
    const stripe = await startStripe()
    const secret_key = `${stripe.config['secret_key']},sk_live_another_0123456789abcdef`
    billing = await openMoney(engine, stripe, {
      gateways: { stripe: { ...stripe.config, secret_key } },
    })
  })
  after(async () => {
    await billing.close()
    await billing.provider.close()
  })

  test('the reply to an opened checkout says whether it takes live money', async () => {
    assert.equal((await billing.create()).live, false)
  })

  test('a poll keeps the mode of what it applies, where none was known', async () => {
    const payment = await billing.create()
    const forget = () =>
      sql`update billing.payments set live = null where id = ${payment.id}`.execute(
        billing.database.db,
      )
    await forget()
    await billing.core.payments.poll(payment.id)
    assert.equal((await billing.details(payment)).live, null, 'nothing was applied')
    billing.provider.pay(payment.id)
    await billing.core.payments.poll(payment.id)
    assert.equal((await billing.details(payment)).live, false)
  })

  test('a checkout that is found again says it, too', async () => {
    billing.provider.misbehave('checkout', 'cut')
    const id = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e77'
    await assert.rejects(billing.create({ id }))
    assert.equal((await billing.details({ id })).live, null)
    await billing.core.payments.poll(id)
    const { live, checkout } = await billing.details({ id })
    assert.deepEqual([live, checkout], [false, 'open'])
  })

  test('the charge of a saved card says it, too', async () => {
    const first = await billing.createPaid({ saveCard: true })
    const [saved] = (await billing.details(first)).events.flatMap(({ paymentMethodId }) =>
      paymentMethodId === null ? [] : [paymentMethodId],
    )
    assert.ok(saved)
    const charged = await billing.create({ paymentMethodId: saved, initiatedBy: 'merchant' })
    assert.equal(charged.live, false)
  })
})
