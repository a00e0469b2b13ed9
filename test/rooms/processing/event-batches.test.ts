import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from '../../../src/kernel/ids.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import type { LeasedEvent } from '../../../src/queue/deferred-events.ts'
import { createBatches, eventBatches } from '../../../src/worker/batches.ts'
import { onPostgres } from '../../support/databases.ts'
import {
  deferral,
  deferredRow,
  endedTogether,
  events,
  logged,
  newcomer,
  notes,
  payment,
  stealLease,
  useRoom,
} from './room.ts'

onPostgres(() => {
  const room = useRoom()

  const deferredOf = async (order: Payment, fields = {}) =>
    deferral(room, {
      dedup_key: `payment:paid:${order.id}`,
      type: 'PaymentSucceeded',
      cause: 'poll',
      payment_id: order.id,
      ...fields,
    })
  const paidEvent = async (fields = {}) =>
    deferredOf(await payment(room, { status: 'paid' }), fields)
  const threePaid = async () => [await paidEvent(), await paidEvent(), await paidEvent()] as const
  /** A dispute that has been lost since its event was deferred. */
  const outOfDate = async () => {
    const id = newUuid()
    const { id: paymentId } = await payment(room, { status: 'paid' })
    await room.db
      .insertInto('billing.disputes')
      .values({
        id,
        payment_id: paymentId,
        gateway: 'stating',
        provider_reference: 'dp_1',
        status: 'lost',
      })
      .execute()
    const about = { dedup_key: `dispute:open:${id}`, type: 'PaymentDisputed' }
    return deferral(room, { ...about, cause: 'poll', payment_id: paymentId })
  }
  const endsOf = (leased: readonly LeasedEvent[]) =>
    Promise.all(
      leased.map(async (one) => {
        const { state, attempts } = await deferredRow(room, one)
        return `${state} ${attempts}`
      }),
    )
  const claimed = async () => new Set((await events(room)).map(({ id }) => id))
  const idsOf = (leased: readonly LeasedEvent[]) => new Set(leased.map(({ id }) => id))
  const transactions = () => endedTogether(room, 'deferred_events')

  test('events that are dispatched together end in one transaction, each by itself', async () => {
    const [first, failing, last] = await threePaid()
    const over = await outOfDate()
    room.on('PaymentSucceeded', async ({ id }, { tx }) => {
      await tx.query(`insert into notes (author, about) values ('listener', $1)`, [id])
      if (id === failing.id) throw new Error('not this one')
    })
    const leased = [first, over, failing, last]
    assert.deepEqual(await room.dispatchTogether(leased), ['ended', 'ended', 'ended', 'ended'])
    assert.deepEqual(await claimed(), idsOf([first, last]))
    const ends = ['processed 0', 'processed 0', 'pending 1', 'processed 0']
    assert.deepEqual(await endsOf(leased), ends)
    const said = [first, last].map(({ id }) => `listener ${id}`)
    assert.deepEqual(new Set(await notes(room)), new Set(said))
    assert.deepEqual(await transactions(), [3, 1])
  })

  test('one whose lease is lost rolls back its transaction: each event goes alone', async () => {
    const [first, stolen, last] = await threePaid()
    await stealLease(room, 'deferred_events', stolen)
    const leased = [first, stolen, last]
    assert.deepEqual(await room.dispatchTogether(leased), ['left', 'left', 'left'])
    assert.deepEqual(await claimed(), new Set())
    assert.deepEqual(logged(room), ['warn a batch failed; each event goes alone'])
    const dispatch = createBatches(eventBatches, room.processing, 1)
    assert.deepEqual(await Promise.all(leased.map(dispatch)), ['ended', 'ended', 'ended'])
    assert.deepEqual(await claimed(), idsOf([first, last]))
    assert.deepEqual(await endsOf(leased), ['processed 0', 'processing 0', 'processed 0'])
  })

  test('an event about nothing fails by itself, once it goes alone', async () => {
    const [first, , last] = await threePaid()
    const odd = await paidEvent({ payment_id: null })
    const dispatch = createBatches(eventBatches, room.processing, 1)
    const leased = [first, odd, last]
    await Promise.all(leased.map(dispatch))
    assert.deepEqual(await endsOf(leased), ['processed 0', 'pending 1', 'processed 0'])
  })

  test('only the event whose listener lost the transaction has had its attempt', async () => {
    const [first, breaking, last] = await threePaid()
    room.on('PaymentSucceeded', async ({ id }, { tx }) => {
      if (id === breaking.id) await tx.client.query('select 1; commit')
    })
    const leased = [first, breaking, last]
    assert.deepEqual(await room.dispatchTogether(leased), ['left', 'ended', 'left'])
    assert.deepEqual(await endsOf(leased), ['processing 0', 'pending 1', 'processing 0'])
    assert.deepEqual(await claimed(), new Set())
  })

  test('where this process lacks a listener, all are left to others', async () => {
    await newcomer(room, 'PaymentFailed')
    const leased = await threePaid()
    assert.deepEqual(await room.dispatchTogether(leased), ['ended', 'ended', 'ended'])
    assert.deepEqual(await endsOf(leased), ['pending 0', 'pending 0', 'pending 0'])
  })

  test('an event that failed before shares its transaction with no other', async () => {
    const leased = [await paidEvent({ attempts: 1 }), await paidEvent(), await paidEvent()]
    const dispatch = createBatches(eventBatches, room.processing, 1)
    await Promise.all(leased.map(dispatch))
    assert.deepEqual(new Set(await transactions()), new Set([1, 2]))
  })

  test('events about one payment follow one another; events of the outbox lock none', async () => {
    const order = await payment(room, { status: 'paid' })
    const twice = [
      await deferredOf(order),
      await deferredOf(order, { dedup_key: `payment:failed:${order.id}`, type: 'PaymentFailed' }),
    ]
    await Promise.all(twice.map(createBatches(eventBatches, room.processing, 1)))
    assert.deepEqual(await transactions(), [1, 1])
    const { keysOf } = eventBatches
    assert.deepEqual(keysOf({ ...(await paidEvent()), outbox: true }), [])
  })
})
