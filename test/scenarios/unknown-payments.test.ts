import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { markUnknownPayments } from '../../src/upkeep/sweep.ts'
import { idle } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'

/** Money of a payment that nobody has made is for a person, once it is certain that nobody will. */
onAnyDatabase((engine) => {
  let stated: StatedBilling
  before(async () => {
    stated = await openStated(engine)
  })
  after(() => stated.close())

  const money = { amount: 10_000n, currency: 'UAH' }
  /** Says it; so many hours later the sweeper looks. Whether the call is marked then. */
  const markedAfter = async (hours: number, statement: Statement) => {
    const call = await stated.say(statement)
    assert.deepEqual(stated.resultsOf(call), ['unknown_payment'])
    assert.equal(call.needsReview, false)
    await sql`update billing.webhook_calls
      set received_at = received_at - make_interval(hours => ${hours}::int)
      where id = ${call.id}::uuid`.execute(stated.database.db)
    await markUnknownPayments(stated.database, { log: capturedLog().log, newId: newUuid })
    return (await stated.core.calls.get(call.id))?.needsReview
  }
  const about = (id = randomUUID()) => ({ payment: { id }, ...money })
  const paidUnknown = (): Statement => ({ type: 'payment', status: 'paid', ...about() })

  test('paid, refunded or disputed, and unknown a day later: a person looks', async () => {
    assert.equal(await markedAfter(25, paidUnknown()), true)
    assert.equal(await markedAfter(25, refund({ id: randomUUID(), currency: 'UAH' }, 're_1')), true)
    const dispute = { type: 'dispute', reference: 'dp_1', status: 'open', ...about() } as const
    assert.equal(await markedAfter(25, dispute), true)
  })

  test('once a person has looked, it is not marked again', async () => {
    assert.equal(await markedAfter(25, paidUnknown()), true)
    const { data } = await stated.core.reviews.list({ reason: 'unknown_payment', limit: 1 })
    const id = data[0]?.id ?? assert.fail()
    await stated.core.reviews.handle(id, { note: 'of another shop' })
    await markUnknownPayments(stated.database, { log: capturedLog().log, newId: newUuid })
    const review = await stated.core.reviews.get(id)
    assert.deepEqual([review?.state, review?.times], ['handled', 1])
    const call = await stated.core.calls.get(review?.webhookCallId ?? '')
    assert.equal(call?.needsReview, false)
  })

  test('not within the day, nor where no money moved, nor by a reference that is not our kind', async () => {
    assert.equal(await markedAfter(23, paidUnknown()), false)
    assert.equal(await markedAfter(25, { type: 'payment', status: 'failed', ...about() }), false)
    const pending = refund({ id: randomUUID(), currency: 'UAH' }, 're_2', { status: 'pending' })
    assert.equal(await markedAfter(25, pending), false)
    const free = { claimed: { id: randomUUID(), by: 'payer' }, amount: 0n, currency: 'UAH' }
    const named = { payment: { checkoutReference: 'txn_free' }, ...free }
    assert.equal(await markedAfter(25, { type: 'payment', status: 'paid', ...named }), false)
    const elsewhere = { payment: { providerReference: 'pi_elsewhere' }, ...money }
    assert.equal(await markedAfter(25, { type: 'payment', status: 'paid', ...elsewhere }), false)
  })

  test('a payment that is made after all takes the mark away, closes the review, and is paid', async () => {
    const id = randomUUID()
    assert.equal(await markedAfter(25, { type: 'payment', status: 'paid', ...about(id) }), true)
    const unknown = async () => {
      const { data } = await stated.core.reviews.list({ reason: 'unknown_payment' })
      const review = data.find((one) => one.stated.reference === `id:${id}`)
      return [review?.state, review?.operator, review?.detail]
    }
    assert.deepEqual(await unknown(), ['open', null, 'paid'])
    const payment = await stated.create({ id, currency: 'UAH' })
    await idle(stated.core)
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    const { data } = await stated.core.calls.list({ paymentId: id })
    assert.deepEqual(
      data.map(({ needsReview }) => needsReview),
      [false],
    )
    assert.deepEqual(await unknown(), ['handled', 'service', 'paid'])
    assert.deepEqual(stated.resultsOf(await stated.say(paid(payment))), ['duplicate'])
  })
})
