import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { closeUnsaid } from '../../src/database/reviews.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { Review } from '../../src/payments/review.ts'
import { sweepLeases } from '../../src/upkeep/sweep.ts'
import { reviewSchema } from '../../src/wire/review.ts'
import { idle } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import { statedCall, type Statement } from '../support/stating-gateway.ts'
import { untilBlocked } from '../support/until-blocked.ts'

onAnyDatabase((engine) => {
  let stated: StatedBilling
  let isClosed = false
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) =>
        core.on(['PaymentSucceeded', 'PaymentRefunded'], 'shop', () => {
          if (isClosed) throw new Error('the shop is closed')
        }),
    })
  })
  beforeEach(() => {
    isClosed = false
  })
  after(() => stated.close())

  const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))
  const refusal = (work: Promise<unknown>) => work.then(() => 'none', codeOf)
  const reviewsOf = async ({ id }: Payment) =>
    (await stated.core.reviews.list({ paymentId: id })).data
  const only = async (payment: Payment): Promise<Review> => {
    const reviews = await reviewsOf(payment)
    assert.equal(reviews.length, 1, JSON.stringify(reviews.map(({ reason }) => reason)))
    return reviews[0] ?? assert.fail()
  }
  const marksOf = async ({ id }: Payment) =>
    (await stated.core.calls.list({ paymentId: id, limit: 100 })).data.map(
      ({ needsReview }) => needsReview,
    )
  const short = (payment: Payment) => ({
    ...paid(payment),
    amount: 9_000n,
    providerReference: 'pi_9',
  })
  const underpaid = async () => {
    const payment = await stated.create()
    await stated.say(short(payment))
    return payment
  }

  test('what a callback says wrongly is a review, with the money that was stated and expected', async () => {
    const payment = await underpaid()
    const review = await only(payment)
    const [call] = (await stated.core.calls.list({ paymentId: payment.id })).data
    const { currency } = payment
    assert.deepEqual(reviewSchema.parse(JSON.parse(JSON.stringify(review))), review.toJSON())
    assert.deepEqual(
      { ...review, id: '', createdAt: 0, lastAt: 0 },
      {
        id: '',
        gateway: 'stating',
        reason: 'amount_mismatch',
        detail: null,
        paymentId: payment.id,
        periodId: null,
        subscriptionId: null,
        webhookCallId: call?.id,
        stated: { reference: 'pi_9', amount: 9_000n, currency },
        expected: { amount: 10_000n, currency },
        times: 1,
        state: 'open',
        operator: null,
        note: null,
        version: 1,
        createdAt: 0,
        lastAt: 0,
        handledAt: null,
      },
    )
    assert.deepEqual((await stated.details(payment)).reviews, [review])
    assert.deepEqual(await stated.core.reviews.get(review.id), review)
    assert.equal(await stated.core.reviews.get(newUuid()), undefined)
    assert.equal(await stated.core.reviews.get('no id'), undefined)
  })

  test('reviews are listed by state, reason, gateway and payment, a page at a time', async () => {
    const payment = await underpaid()
    await stated.say({ ...short(payment), providerReference: 'pi_8' })
    const [second, first] = await reviewsOf(payment)
    assert.ok(first && second)
    const { list } = stated.core.reviews
    const about = { paymentId: payment.id }
    assert.deepEqual((await list({ ...about, gateway: 'stating', state: 'open' })).data.length, 2)
    assert.deepEqual((await list({ ...about, state: 'handled' })).data, [])
    assert.deepEqual((await list({ ...about, reason: 'dispute_open' })).data, [])
    assert.deepEqual((await list({ ...about, gateway: 'echoing' })).data, [])
    const page = await list({ ...about, limit: 1 })
    assert.deepEqual(page.data, [second])
    const next = await list({ ...about, limit: 1, cursor: page.nextCursor ?? '' })
    assert.deepEqual([next.data, next.nextCursor], [[first], null])
    const misspelt = { payment: payment.id } as object
    assert.equal(await refusal(list(misspelt)), 'query_invalid')
  })

  test('a redelivery adds one; once it is handled, no call is marked, nor is a further one', async () => {
    const payment = await underpaid()
    await stated.say(short(payment))
    const { id, times } = await only(payment)
    assert.equal(times, 2)
    assert.deepEqual(await marksOf(payment), [true, true])
    const handled = await stated.core.reviews.handle(id, { note: 'refunded', operator: 'olena' })
    assert.deepEqual(
      [handled.state, handled.note, handled.operator, handled.version],
      ['handled', 'refunded', 'olena', 2],
    )
    assert.ok(handled.handledAt)
    assert.deepEqual(await marksOf(payment), [false, false])
    await stated.say(short(payment))
    const again = await only(payment)
    assert.deepEqual([again.state, again.times, again.version], ['handled', 3, 2])
    assert.deepEqual(await marksOf(payment), [false, false, false])
  })

  test('what another callback says of the same payment is another review, and keeps its mark', async () => {
    const payment = await underpaid()
    const { id } = await only(payment)
    await stated.say(short(payment), { ...paid(payment), currency: 'EUR' })
    assert.equal((await reviewsOf(payment)).length, 2)
    await stated.core.reviews.handle(id, { note: 'seen' })
    assert.deepEqual(await marksOf(payment), [true, false])
  })

  test('of two operators the second is refused; the same content again is not, nor is an older view', async () => {
    const payment = await underpaid()
    const { id } = await only(payment)
    const { handle } = stated.core.reviews
    assert.equal(await refusal(handle(id, { note: 'x', version: 2 })), 'review_handled')
    assert.equal((await only(payment)).state, 'open')
    const done = { note: 'refunded', operator: 'olena', version: 1 }
    const first = await handle(id, done)
    assert.deepEqual(await handle(id, done), first)
    assert.equal(await refusal(handle(id, { ...done, operator: 'taras' })), 'review_handled')
    assert.equal(await refusal(handle(id, { ...done, note: 'another' })), 'review_handled')
    assert.deepEqual(await only(payment), first)
  })

  test('whoever handles a review says what was found, and is a person', async () => {
    const { id } = await only(await underpaid())
    const { handle } = stated.core.reviews
    assert.equal(await refusal(handle(id, {} as { note: string })), 'review_invalid')
    assert.equal(await refusal(handle(id, { note: '' })), 'review_invalid')
    assert.equal(await refusal(handle(id, { note: 'x', operator: 'service' })), 'review_invalid')
    assert.equal(await refusal(handle(id, { note: 'x', version: 0 })), 'review_invalid')
    assert.equal(await refusal(handle(newUuid(), { note: 'x' })), 'review_not_found')
    assert.equal(await refusal(handle('no id', { note: 'x' })), 'review_not_found')
  })

  test('of ten operators at once one is first', async () => {
    const { id } = await only(await underpaid())
    const operators = Array.from({ length: 10 }, (_, at) => `operator ${at}`)
    const ends = await Promise.all(
      operators.map((operator) => refusal(stated.core.reviews.handle(id, { note: 'x', operator }))),
    )
    assert.deepEqual(ends.toSorted(), ['none', ...Array<string>(9).fill('review_handled')])
    assert.equal((await stated.core.reviews.get(id))?.version, 2)
  })

  test('handled while it is delivered again, it stays handled, and no call of it stays marked', async () => {
    for (let round = 0; round < 5; round += 1) {
      const payment = await underpaid()
      const { id } = await only(payment)
      const delivered = [1, 2, 3].map(() => stated.core.receive(statedCall([short(payment)])))
      const handled = stated.core.reviews.handle(id, { note: 'seen' })
      await Promise.all([...delivered, handled])
      await idle(stated.core)
      const review = await only(payment)
      assert.deepEqual([review.state, review.times], ['handled', 4])
      assert.deepEqual(await marksOf(payment), [false, false, false, false])
    }
  })

  /** Each of three attempts at it fails. */
  const failThrice = async (call: { readonly id: string }) => {
    for (const attempt of [1, 2, 3]) {
      await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
        where state = 'pending'`.execute(stated.database.db)
      await stated.attempted(call, attempt)
    }
  }
  const deliverFailing = async (statement: Statement) => {
    isClosed = true
    await stated.deliver(statement)
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await failThrice(call)
    return call
  }

  test('a call that is retried says it once; one that fails for good is said too, till a replay ends well', async () => {
    const payment = await stated.createPaid()
    const call = await deliverFailing(refund(payment, `re_${payment.id}`, { amount: 30_000n }))
    const reasons = async () =>
      (await reviewsOf(payment)).map(
        ({ reason, state, times, operator }) => `${reason} ${state} ${times} ${operator}`,
      )
    const over = 'over_refund open 1 null'
    assert.deepEqual((await reasons()).toSorted(), ['call_failed open 1 null', over])
    isClosed = false
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual((await reasons()).toSorted(), ['call_failed handled 1 service', over])
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, true)
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
  })

  test('a call that fails for good once more, after a person has handled it, is for a person again', async () => {
    const payment = await stated.create()
    const call = await deliverFailing(paid(payment))
    const { id, detail } = await only(payment)
    assert.match(detail ?? '', /^in listener shop: Error: the shop is closed/)
    await stated.core.reviews.handle(id, { note: 'the shop is open again' })
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, false)
    await stated.core.calls.replay(call.id)
    await failThrice(call)
    const { state, version, note } = await only(payment)
    assert.deepEqual([state, version, note], ['open', 3, 'the shop is open again'])
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, true)
  })

  test('a call that is replayed and says it no more closes its review; if it says it again, it is open', async () => {
    const payment = await underpaid()
    const [call] = (await stated.core.calls.list({ paymentId: payment.id })).data
    assert.ok(call)
    const { db } = stated.database
    const setAmount = (amount: number) =>
      sql`update billing.payments set amount = ${amount} where id = ${payment.id}::uuid`.execute(db)
    await setAmount(8_000)
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.equal((await only(payment)).state, 'open')
    await setAmount(9_000)
    await stated.say({ ...short(payment), amount: 1n })
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    const ends = (await reviewsOf(payment)).map(({ stated: { amount }, state, operator }) => [
      amount,
      state,
      operator,
    ])
    assert.deepEqual(ends, [
      [1n, 'open', null],
      [9_000n, 'handled', 'service'],
    ])
    await setAmount(10_000)
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    const open = (await reviewsOf(payment)).filter(({ state }) => state === 'open')
    assert.equal(open.length, 2)
  })

  test('a review for a reason of a newer version stays open, whatever its call says by now', async () => {
    const payment = await stated.create()
    await stated.say({ ...short(payment), providerReference: 'pi_later' })
    const [call] = (await stated.core.calls.list({ paymentId: payment.id })).data
    assert.ok(call)
    const { db } = stated.database
    await sql`update billing.reviews set reason = 'from_the_future'
      where payment_id = ${payment.id}::uuid`.execute(db)
    await sql`update billing.payments set amount = 9000 where id = ${payment.id}::uuid`.execute(db)
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.equal((await stated.core.payments.get(payment.id))?.status, 'paid')
    assert.equal((await only(payment)).state, 'open')
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, true)
  })

  test('a call that is given up has its review from the same moment, or is not given up', async () => {
    const { db } = stated.database
    const payment = await stated.createPaid()
    const callsOf = async () => (await stated.core.calls.list({ paymentId: payment.id })).data
    await sql`update billing.webhook_calls set state = 'processing', leases_lost = 9,
        lease_token = gen_random_uuid(), lease_until = now() - interval '1 s'
      where payment_id = ${payment.id}::uuid`.execute(db)
    const { numbers } = stated.runtime
    const sweep = () => sweepLeases(stated.database, { log: silentLog, newId: newUuid, numbers })
    await sql`alter table billing.reviews add constraint away check (reason <> 'call_failed')
      not valid`.execute(db)
    await assert.rejects(sweep())
    assert.deepEqual(
      (await callsOf()).map(({ state, needsReview }) => [state, needsReview]),
      [['processing', false]],
    )
    await sql`alter table billing.reviews drop constraint away`.execute(db)
    await sweep()
    assert.deepEqual(
      (await callsOf()).map(({ state, needsReview }) => [state, needsReview]),
      [['failed', true]],
    )
    const { reason, detail, state } = await only(payment)
    const lost = 'worker lost: 10 workers died while they held this row'
    assert.deepEqual([reason, detail, state], ['call_failed', lost, 'open'])
  })
})

onPostgres((engine) => {
  test('a review that is handled while its call is processed again takes the mark with it', async (t) => {
    const stated = await openStated(engine)
    t.after(() => stated.close())
    const { db } = stated.database
    const payment = await stated.create()
    await stated.say({ ...paid(payment), amount: 9_000n, providerReference: 'pi_9' })
    const [review] = (await stated.core.reviews.list({ paymentId: payment.id })).data
    const [call] = (await stated.core.calls.list({ paymentId: payment.id })).data
    assert.ok(review && call?.needsReview)
    // Of a kind that outlives what its call says.
    await sql`update billing.reviews set reason = 'dispute_lost'`.execute(db)
    const { handled } = await stated.database.transaction(async (transaction) => {
      const stillMarked = await closeUnsaid(transaction.db, [call.id])
      const handled = stated.core.reviews.handle(review.id, { note: 'seen' })
      await untilBlocked(db, handled)
      await sql`update billing.webhook_calls set needs_review = ${stillMarked.has(call.id)}
        where id = ${call.id}::uuid`.execute(transaction.db)
      return { handled }
    })
    assert.equal((await handled).state, 'handled')
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, false)
  })
})
