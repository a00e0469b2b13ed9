import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { requeueCallsWithPayment } from '../../src/outcomes/awaiting.ts'
import { idle } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import type { Payment } from '../../src/payments/payment.ts'

forEachDatabase((engine) => {
  let stated: StatedBilling
  before(async () => {
    stated = await openStated(engine)
  })
  after(() => stated.close())

  /** Anybody can have written the payment's id: only the checkout counts. */
  const bound = (payment: Payment, checkoutReference: string) => ({
    ...paid(payment),
    payment: { checkoutReference },
    claimed: { id: payment.id, by: 'anybody' },
    checkoutReference,
  })

  test('a statement bound by its checkout settles the payment that has this checkout', async () => {
    const payment = await stated.create({ checkoutReference: 'inv_own' })
    await stated.say(bound(payment, 'inv_own'))
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
  })

  test('a payment with another checkout stays untouched, for review', async () => {
    const payment = await stated.create({ checkoutReference: 'inv_a' })
    const call = await stated.say(bound(payment, 'inv_b'))
    assert.deepEqual(
      [stated.resultsOf(call), call.needsReview],
      [['checkout_reference_mismatch'], true],
    )
    const { status, checkoutReference } = await stated.details(payment)
    assert.deepEqual([status, checkoutReference], ['pending', 'inv_a'])
  })

  test('a payment without a checkout waits, for review, and is settled once it has it', async () => {
    const payment = await stated.create()
    const call = await stated.say(bound(payment, 'inv_late'))
    assert.deepEqual(
      [call.state, stated.resultsOf(call), call.needsReview],
      ['ignored', ['checkout_reference_unknown'], true],
    )
    assert.equal((await stated.details(payment)).status, 'pending')
    await sql`update billing.payments set checkout_reference = 'inv_late'
      where id = ${payment.id}::uuid`.execute(stated.database.db)
    await requeueCallsWithPayment(stated.database.db)
    await idle(stated.core)
    const ended = await stated.core.calls.get(call.id)
    assert.deepEqual([ended?.state, ended?.needsReview], ['processed', false])
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
  })

  test('a checkout that turns out to be another payment’s settles that one, whatever it claims', async () => {
    const payment = await stated.create()
    const call = await stated.say(bound(payment, 'inv_taken'))
    assert.deepEqual(stated.resultsOf(call), ['checkout_reference_unknown'])
    const other = await stated.create({ checkoutReference: 'inv_taken' })
    await idle(stated.core)
    const ended = await stated.core.calls.get(call.id)
    assert.deepEqual([ended?.state, ended?.paymentId], ['processed', other.id])
    assert.deepEqual(await requeueCallsWithPayment(stated.database.db), [])
    assert.equal((await stated.details(payment)).status, 'pending')
    assert.equal((await stated.details(other)).status, 'paid')
  })

  test('a checkout that a payment of another account has is no reason to look again for ever', async () => {
    const payment = await stated.create()
    await stated.create({ merchantAccount: 'other', checkoutReference: 'inv_of_other' })
    const call = await stated.say(bound(payment, 'inv_of_other'))
    assert.deepEqual([stated.resultsOf(call), call.needsReview], [['merchant_mismatch'], true])
    assert.deepEqual(await requeueCallsWithPayment(stated.database.db), [])
  })

  test('an early callback with a card beside its payment waits for the payment all the same', async () => {
    const id = randomUUID()
    const checkoutReference = `cs_${id}`
    const card = { type: 'payment_method', status: 'attached', reference: `pm_${id}` } as const
    const early = { id, amount: 10_000n, currency: 'USD' } as Payment
    for (const reference of [{ id }, { checkoutReference }]) {
      const call = await stated.say(
        { ...paid(early), payment: reference },
        { ...card, payment: reference },
      )
      assert.equal(stated.resultsOf(call)[0], 'unknown_payment')
    }
    const payment = await stated.create({ id, checkoutReference })
    await idle(stated.core)
    const { status, paymentMethods } = await stated.details(payment)
    assert.equal(status, 'paid')
    assert.deepEqual(
      paymentMethods.map(({ providerReference }) => providerReference),
      [card.reference],
    )
    assert.deepEqual((await stated.events(payment)).toSorted(), [
      'PaymentMethodAttached',
      'PaymentSucceeded',
    ])
  })

  test('a call waits under every name that could bring its payment', async () => {
    const claim = (id: string, checkoutReference: string) => ({
      ...bound({ id, amount: 10_000n, currency: 'USD' } as Payment, checkoutReference),
      claimed: { id, by: 'payer' },
    })
    for (const input of [
      { id: randomUUID() },
      { checkoutReference: 'cs_named' },
      { id: randomUUID(), checkoutReference: 'cs_both' },
    ]) {
      const { id = randomUUID(), checkoutReference = `cs_${id}` } = input
      const call = await stated.say(claim(id, checkoutReference))
      assert.deepEqual(stated.resultsOf(call), ['unknown_payment'])
      const payment = await stated.create(input)
      await idle(stated.core)
      assert.equal((await stated.details(payment)).status, 'paid')
    }
  })

  test('the sweeper finds a payment by either name', async () => {
    const checkoutReference = 'cs_swept'
    const payment = await stated.create()
    const lost = { ...payment, id: randomUUID() }
    await stated.say({
      ...bound(lost, checkoutReference),
      claimed: { id: lost.id, by: 'payer' },
    })
    await sql`update billing.payments set checkout_reference = ${checkoutReference}
      where id = ${payment.id}::uuid`.execute(stated.database.db)
    assert.equal((await requeueCallsWithPayment(stated.database.db)).length, 1)
    await idle(stated.core)
    assert.equal((await stated.details(payment)).status, 'paid')
  })
})
