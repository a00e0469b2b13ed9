import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { Payment } from '../../src/payments/payment.ts'
import { onAnyDatabase } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { onlyOpens, openScripted, pollReply, type Script } from './scripted.ts'

onAnyDatabase((engine) => {
  let billing: StatedBilling
  let script: Script
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
  })
  beforeEach(() => onlyOpens(script))
  after(() => billing.close())

  const create = () =>
    billing.create({ gateway: 'scripted', amount: 10_000, currency: 'USD', checkout: true })
  const poll = async ({ id }: Payment) => (await billing.core.payments.poll(id)).payment.pollError
  const reviewsOf = async ({ id }: Payment) =>
    (await billing.core.reviews.list({ paymentId: id })).data
  const brief = async (payment: Payment) =>
    (await reviewsOf(payment)).map(
      ({ reason, detail, state, times }) => `${reason} (${detail}) ${state} ${times}`,
    )
  const handle = async (payment: Payment, note: string) => {
    const [review] = await reviewsOf(payment)
    assert.ok(review)
    return billing.core.reviews.handle(review.id, { note })
  }
  const short = ({ id }: Payment) =>
    ({
      type: 'payment',
      payment: { id },
      status: 'paid',
      amount: 9_000n,
      currency: 'USD',
    }) as const

  test('what a poll finds is a review; a callback that says the same adds one to it', async () => {
    const payment = await create()
    script.poll = async () => pollReply([short(payment)], { standing: 'paid' })
    assert.equal(await poll(payment), 'needs a review: amount_mismatch')
    await billing.sayBy('scripted', { ...short(payment) })
    assert.deepEqual(await brief(payment), ['amount_mismatch (null) open 2'])
    const [review] = await reviewsOf(payment)
    assert.deepEqual(
      [review?.stated, review?.expected, review?.webhookCallId],
      [
        { reference: payment.id, amount: 9_000n, currency: 'USD' },
        { amount: 10_000n, currency: 'USD' },
        null,
      ],
    )
  })

  test('once it is handled, the payment says so, and so does every further poll; nothing is canceled', async () => {
    const payment = await create()
    script.poll = async () => pollReply([short(payment)], { standing: 'paid' })
    await poll(payment)
    await handle(payment, 'the payer was called')
    const looked = 'looked at: amount_mismatch'
    assert.equal((await billing.details(payment)).pollError, looked)
    assert.equal(await poll(payment), looked)
    assert.deepEqual(await brief(payment), ['amount_mismatch (null) handled 2'])
    assert.equal((await billing.details(payment)).status, 'pending')
  })

  test('an answer that is not understood is one, too; a later poll that is understood closes it', async () => {
    const payment = await create()
    script.poll = async () => pollReply([], { standing: 'unclear' })
    const odd = 'nothing that it says settles the payment'
    assert.equal(await poll(payment), `needs a review: ${odd}`)
    assert.equal(await poll(payment), `needs a review: ${odd}`)
    assert.deepEqual(await brief(payment), [`poll_unclear (${odd}) open 2`])
    script.poll = async () => pollReply()
    assert.equal(await poll(payment), null)
    const [closed] = await reviewsOf(payment)
    assert.deepEqual([closed?.state, closed?.operator], ['handled', 'service'])
    script.poll = async () => pollReply([], { standing: 'unclear' })
    assert.equal(await poll(payment), `needs a review: ${odd}`)
    assert.deepEqual(await brief(payment), [`poll_unclear (${odd}) open 3`])
  })

  test('of two reviews of a payment, the mark of its poll goes with the last', async () => {
    const payment = await create()
    script.poll = async () => pollReply([short(payment)], { standing: 'paid' })
    await poll(payment)
    await billing.sayBy('scripted', { ...short(payment), amount: 8_000n })
    await handle(payment, 'one')
    assert.equal((await billing.details(payment)).pollError, 'needs a review: amount_mismatch')
    const [, first] = await reviewsOf(payment)
    await billing.core.reviews.handle(first?.id ?? '', { note: 'two' })
    assert.equal((await billing.details(payment)).pollError, 'looked at: amount_mismatch')
  })

  test('a review that cannot be written is written by the next poll: the payment stays due', async () => {
    const payment = await create()
    const { db } = billing.database
    script.poll = async () => {
      await sql`alter table billing.reviews rename to away`.execute(db)
      return pollReply([], { standing: 'unclear' })
    }
    try {
      await assert.rejects(billing.core.payments.poll(payment.id))
    } finally {
      await sql`alter table billing.away rename to reviews`.execute(db)
    }
    assert.deepEqual(await reviewsOf(payment), [])
    script.poll = async () => pollReply([], { standing: 'unclear' })
    await poll(payment)
    assert.equal((await reviewsOf(payment)).length, 1)
  })
})
