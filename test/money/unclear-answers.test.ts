import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { PollReply } from '../../src/gateways/operations.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { ignored, type Outcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { onPostgres } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { age, onlyOpens, openScripted, opensAt, pollReply, type Script } from './scripted.ts'

const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))
const nothing = ignored('no_outcome', 'state 7')

/** That nobody has paid follows from words that say just that, and from nothing else. */
onPostgres((engine) => {
  let billing: StatedBilling
  let script: Script
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
  })
  beforeEach(() => onlyOpens(script))
  after(() => billing.close())

  const create = (input: Partial<CreatePaymentInput> = {}) =>
    billing.create({
      gateway: 'scripted',
      amount: 10_000,
      currency: 'USD',
      checkout: true,
      ...input,
    })
  const isDue = async ({ id }: Payment) => {
    const { rows } = await sql<{ due: boolean }>`
      select next_poll_at is not null as due from billing.payments
      where id = ${id}`.execute(billing.database.db)
    return rows[0]?.due
  }
  const statedOf = ({ id }: Payment, status: 'paid' | 'failed', fields: object = {}): Outcome => ({
    type: 'payment',
    payment: { id },
    status,
    amount: 10_000n,
    currency: 'USD',
    ...fields,
  })
  const refundOf = ({ id }: Payment, fields: object = {}): Outcome => ({
    type: 'refund',
    payment: { id },
    status: 'paid',
    amount: 10_000n,
    currency: 'USD',
    refundReference: `re_${id}`,
    ...fields,
  })
  const answers = (reply: PollReply) => {
    script.poll = async () => reply
    script.closeCheckout = async () => 'closed'
  }

  const odd: readonly (readonly [string, (payment: Payment) => PollReply, RegExp])[] = [
    [
      'says that money was taken, and nothing that settles the payment',
      () => pollReply([nothing], { standing: 'paid' }),
      /^needs a review: no_outcome \(state 7\)$/,
    ],
    [
      'says that money was taken, and nothing else',
      () => pollReply([], { standing: 'paid' }),
      /^needs a review: nothing that it says settles the payment$/,
    ],
    [
      'says what its gateway does not know',
      () => pollReply([nothing], { standing: 'unclear' }),
      /^needs a review: no_outcome \(state 7\)$/,
    ],
    [
      'calls it unpaid and speaks of our money',
      () => pollReply([ignored('no_outcome', 'x', { money: true })], { standing: 'unpaid' }),
      /^needs a review: no_outcome \(x\)$/,
    ],
    [
      'calls it unpaid in a report that is not handled',
      () => pollReply([nothing, ignored('unhandled_event', 'y')], { standing: 'unpaid' }),
      /^needs a review: unhandled_event \(y\)$/,
    ],
    [
      'calls a payment of another account unpaid',
      (payment) =>
        pollReply([statedOf(payment, 'failed', { merchantAccount: 'another' })], {
          standing: 'unpaid',
        }),
      /^needs a review: merchant_mismatch$/,
    ],
    [
      'calls it unpaid, and refunded',
      (payment) => pollReply([refundOf(payment)], { standing: 'unpaid' }),
      /^needs a review: a refund of what nobody has paid$/,
    ],
    [
      'calls it open beside what is not handled',
      () => pollReply([ignored('unhandled_event', 'z')], { standing: 'open' }),
      /^needs a review: unhandled_event \(z\)$/,
    ],
  ]
  for (const [what, replyOf, review] of odd) {
    test(`a poll whose provider ${what} cancels nothing, and asks on`, async () => {
      const payment = await create()
      for (const hours of [1, 30, 24 * 31]) {
        await age(billing, payment, hours)
        answers(replyOf(payment))
        const { payment: after } = await billing.core.payments.poll(payment.id)
        assert.equal(after.status, 'pending')
        assert.match(after.pollError ?? '', review)
        assert.equal(await isDue(payment), true)
      }
      script.closeCheckout = async () => 'not_open'
      await assert.rejects(
        billing.core.payments.cancel(payment.id),
        (error) => codeOf(error) === 'payment_not_cancelable',
      )
      assert.doesNotMatch((await billing.events(payment)).join(' '), /PaymentCanceled/)
      answers(pollReply([statedOf(payment, 'paid')], { standing: 'paid' }))
      const { payment: paid } = await billing.core.payments.poll(payment.id)
      assert.deepEqual([paid.status, paid.pollError], ['paid', null])
    })
  }

  test('what a poll alone tells of money that goes another way is for a person', async () => {
    const payment = await create()
    const dispute = { type: 'dispute', payment: { id: payment.id }, reference: 'du_1' } as const
    answers(
      pollReply([statedOf(payment, 'paid'), { ...dispute, status: 'open' }], { standing: 'paid' }),
    )
    const { payment: after } = await billing.core.payments.poll(payment.id)
    assert.deepEqual([after.status, after.pollError], ['paid', 'needs a review: dispute:open'])
    answers(
      pollReply([statedOf(payment, 'paid'), { ...dispute, status: 'won' }], { standing: 'paid' }),
    )
    assert.equal((await billing.core.payments.poll(payment.id)).payment.pollError, null)
  })

  test('a checkout without an end is given up after a month, unless somebody may have paid it', async () => {
    const payment = await create({ checkout: false, checkoutReference: randomUUID() })
    await age(billing, payment, 24 * 60)
    for (const [standing, isAskedOn] of [
      ['undecided', true],
      ['paid', true],
      ['unclear', true],
      ['open', false],
      ['unpaid', false],
    ] as const) {
      answers(pollReply([nothing], { standing }))
      await billing.core.payments.poll(payment.id)
      assert.equal(await isDue(payment), isAskedOn, standing)
      assert.equal((await billing.details(payment)).status, 'pending')
    }
  })

  test('a provider that does not know what it has named itself is asked on', async () => {
    const named = { url: 'https://provider.example/pay', checkoutReference: randomUUID() }
    script.open = async () => named
    const payment = await create()
    await age(billing, payment, 30)
    answers(pollReply([nothing], { standing: 'absent' }))
    const { payment: after } = await billing.core.payments.poll(payment.id)
    assert.equal(after.status, 'pending')
    assert.match(after.pollError ?? '', /^needs a review: the provider does not know/)
    script.open = opensAt('https://provider.example/pay')
    const unnamed = await create()
    await age(billing, unnamed, 30)
    assert.equal((await billing.core.payments.poll(unnamed.id)).payment.status, 'canceled')
  })

  test('a checkout that is found, and is another payment’s, says nothing of this one', async () => {
    const checkoutReference = randomUUID()
    script.open = async () => ({ url: 'https://provider.example/pay', checkoutReference })
    await create()
    script.open = async () => {
      throw new Error('cut')
    }
    const id = randomUUID()
    await assert.rejects(create({ id }))
    await age(billing, { id }, 30)
    const canceled = { type: 'payment', payment: { id }, status: 'canceled' } as const
    answers(pollReply([canceled], { standing: 'unpaid', checkout: { checkoutReference } }))
    await assert.rejects(
      billing.core.payments.poll(id),
      (error) => codeOf(error) === 'provider_reply_invalid',
    )
    const { status, pollError } = await billing.details({ id })
    assert.equal(status, 'pending')
    assert.match(pollError ?? '', /belongs to another payment/)
  })

  test('a refund that is told and fits no row is not called a failure', async () => {
    const payment = await create()
    await billing.sayBy('scripted', {
      type: 'payment',
      payment: { id: payment.id },
      status: 'paid',
      amount: 10_000n,
      currency: 'USD',
    })
    script.refund = async () => {
      throw new Error('cut')
    }
    await assert.rejects(billing.core.refunds.create(payment.id, { amount: 5_000 }))
    await age(billing, payment, 30)
    const elsewhere = refundOf(payment, { status: 'pending', merchantAccount: 'another' })
    const paid = statedOf(payment, 'paid')
    for (const [standing, outcomes] of [
      ['paid', [paid, elsewhere]],
      ['unclear', [paid]],
      ['unpaid', [paid]],
    ] as const) {
      answers(pollReply(outcomes, { standing, listsRefunds: true }))
      await billing.core.payments.poll(payment.id)
      assert.deepEqual(await billing.refunds(payment), ['pending 5000'])
    }
    // One that is told once more, and late, fits its own row.
    const known = (status: string) => refundOf(payment, { amount: 1_000n, status })
    const told = [paid, known('paid'), known('pending')]
    answers(pollReply(told, { standing: 'paid', listsRefunds: true }))
    await billing.core.payments.poll(payment.id)
    assert.deepEqual(await billing.refunds(payment), ['failed 5000', 'paid 1000'])
  })

  test('a refund of what needs a review is polled ever more rarely', async () => {
    const payment = await create()
    answers(pollReply([statedOf(payment, 'paid')], { standing: 'paid' }))
    await billing.core.payments.poll(payment.id)
    script.refund = async () => {
      throw new Error('cut')
    }
    await assert.rejects(billing.core.refunds.create(payment.id, { amount: 5_000 }))
    await age(billing, payment, 48)
    await sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 second'
      where parent_id = ${payment.id}`.execute(billing.database.db)
    answers(pollReply([ignored('no_outcome', 'x', { money: true })], { standing: 'paid' }))
    await billing.core.reconcile({ gateway: 'scripted' })
    const { rows } = await sql<{ hours: number; poll_error: string }>`
      select poll_error, extract(epoch from next_poll_at - clock_timestamp())::float8 / 3600 as hours
      from billing.payments where parent_id = ${payment.id}`.execute(billing.database.db)
    assert.equal(Math.round(rows[0]?.hours ?? 0), 6)
    assert.equal(rows[0]?.poll_error, 'needs a review: no_outcome (x)')
    assert.deepEqual(await billing.refunds(payment), ['pending 5000'])
  })

  test('the mode that a statement gives counts only where the statement is applied', async () => {
    const payment = await create()
    for (const [amount, live] of [
      [1n, null],
      [10_000n, true],
    ] as const) {
      const outcome = statedOf(payment, 'paid', { amount, live: true })
      answers(pollReply([outcome], { standing: 'paid' }))
      await billing.core.payments.poll(payment.id)
      assert.equal((await billing.details(payment)).live, live)
    }
  })

  test('what is not polled on its own is not taken on if a poll by hand fails', async () => {
    script.poll = () => Promise.reject(new Error('cut'))
    for (const [checkout, due] of [
      [false, false],
      [true, true],
    ] as const) {
      const payment = await create({ checkout })
      await assert.rejects(billing.core.payments.poll(payment.id))
      assert.equal(await isDue(payment), due)
      assert.match((await billing.details(payment)).pollError ?? '', /cut/)
    }
  })

  test('what nobody has paid by the provider’s own words is canceled', async () => {
    const payment = await create()
    await age(billing, payment, 1)
    answers(pollReply([nothing], { standing: 'unpaid' }))
    const { payment: after } = await billing.core.payments.poll(payment.id)
    assert.deepEqual([after.status, after.pollError], ['canceled', null])
    assert.deepEqual(await billing.events(payment), ['PaymentCanceled'])
  })

  test('where nothing can be closed, the provider is asked before a payment is canceled', async () => {
    const { core } = billing
    const mine = await create({ checkout: false })
    answers(pollReply([statedOf(mine, 'paid')], { standing: 'paid' }))
    await assert.rejects(
      core.payments.cancel(mine.id),
      (error) => codeOf(error) === 'payment_not_cancelable',
    )
    assert.equal((await billing.details(mine)).status, 'paid')
    const other = await create({ checkout: false })
    answers(pollReply([nothing], { standing: 'absent' }))
    assert.equal((await core.payments.cancel(other.id)).status, 'canceled')
  })
})
