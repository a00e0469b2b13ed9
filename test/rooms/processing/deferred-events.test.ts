import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DeferredEventsTable } from '../../../src/database/tables.ts'
import {
  catalogue,
  eventTypes as typesOfEvents,
  type CatalogueRow,
  type EventType,
} from '../../../src/events/catalogue.ts'
import { filledKey } from '../../../src/kernel/event-shape.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import type { Claim } from '../../../src/outcomes/applied.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { deferEvents } from '../../../src/processing/deferred-events.ts'
import type { LeasedEvent } from '../../../src/queue/deferred-events.ts'
import type { Insertable } from 'kysely'
import { onPostgres } from '../../support/databases.ts'
import {
  assertDueAfter,
  deferral,
  deferredRow,
  deliveries,
  events,
  eventTypes,
  fault,
  leaseDeferred,
  lineOf,
  logged,
  newcomer,
  notes,
  payment,
  statements,
  stealLease,
  useRoom,
} from './room.ts'

const lostLine =
  'warn lease lost while delivering; another worker has the delivery, or it has ended'

onPostgres(() => {
  const room = useRoom()

  /** A deferred event that is ours to dispatch. */
  const deferred = (
    about: { readonly key: string; readonly type?: EventType },
    fields: Partial<Insertable<DeferredEventsTable>> = {},
  ) =>
    deferral(room, {
      queue: 'reports',
      dedup_key: about.key,
      type: about.type ?? 'PaymentSucceeded',
      cause: 'poll',
      ...fields,
    })
  const deferredOf = (
    order: Payment,
    status: 'paid' | 'failed' | 'canceled' = 'paid',
    fields: Partial<Insertable<DeferredEventsTable>> = {},
  ) => {
    const types = { paid: 'PaymentSucceeded', failed: 'PaymentFailed', canceled: 'PaymentCanceled' }
    const about = { key: `payment:${status}:${order.id}`, type: types[status] as EventType }
    return deferred(about, { payment_id: order.id, ...fields })
  }
  const endOf = async (leased: LeasedEvent) => {
    const { state, attempts, exception, lease_token, lease_until, processed_at } =
      await deferredRow(room, leased)
    return {
      end: `${state} ${attempts}`,
      exception,
      isFree: lease_token === null && lease_until === null,
      isOver: processed_at !== null,
    }
  }
  const finished = { end: 'processed 0', exception: null, isFree: true, isOver: true }
  const card = async (fields = {}) => {
    const row = {
      id: newUuid(),
      gateway: 'stating',
      status: 'attached' as const,
      provider_reference: 'pm_1',
      ...fields,
    }
    await room.db.insertInto('billing.payment_methods').values(row).execute()
    return row
  }
  const deferredCard = ({ id }: { readonly id: string }) =>
    deferred(
      { key: 'payment_method:attached:stating/pm_1', type: 'PaymentMethodAttached' },
      { payment_method_id: id },
    )

  const dispute = async (payment_id: string, status: 'open' | 'lost') => {
    const row = {
      id: newUuid(),
      payment_id,
      gateway: 'stating',
      provider_reference: 'dp_1',
      status,
    }
    await room.db.insertInto('billing.disputes').values(row).execute()
    return row
  }
  const deferredOpening = ({ id, payment_id }: { id: string; payment_id: string }) =>
    deferred({ key: `dispute:open:${id}`, type: 'PaymentDisputed' }, { payment_id })

  describe('a deferred event that still holds', () => {
    test('is claimed under the id of its row, and its listeners run; all at once', async () => {
      const order = await payment(room, { status: 'paid' })
      const leased = await deferredOf(order, 'paid', { exception: 'an earlier one', attempts: 0 })
      const heard: unknown[] = []
      room.on('PaymentSucceeded', async (event, { tx, afterCommit, idempotencyKey }) => {
        heard.push(event.id, event.payment.id, event.superseded, idempotencyKey)
        await tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
        afterCommit(() => void heard.push('after'))
      })
      await room.dispatch(leased)
      assert.equal(await room.afterCommits(), 0)
      const key = `payment:paid:${order.id}`
      assert.deepEqual(heard, [leased.id, order.id, false, `${key}/listener`, 'after'])
      assert.deepEqual(await notes(room), ['listener heard'])
      const [event] = await events(room)
      assert.deepEqual(
        [event?.id, event?.dedup_key, event?.source, event?.webhook_call_id, event?.superseded],
        [leased.id, key, 'poll', null, false],
      )
      assert.deepEqual(await endOf(leased), finished)
      assert.deepEqual(lineOf(room, 'PaymentSucceeded'), {
        payment: order.id,
        amount: '10000',
        currency: 'USD',
      })
      assert.deepEqual(room.woken, [])
    })

    test('has deliveries to queued listeners in its own queue, and wakes their worker', async () => {
      const order = await payment(room, { status: 'failed' })
      room.onQueued('PaymentFailed')
      const leased = await deferredOf(order, 'failed')
      await room.dispatch(leased)
      const rows = await deliveries(room)
      assert.deepEqual(
        rows.map(({ listener, queue, event_id }) => [listener, queue, event_id]),
        [['queued', 'reports', leased.id]],
      )
      assert.deepEqual(room.woken, ['workers'])
    })

    test('keeps what it stores', async () => {
      const order = await payment(room, { status: 'paid' })
      const claim: Claim = {
        eventId: newUuid(),
        dedupKey: `payment:paid:${order.id}`,
        type: 'PaymentSucceeded',
        subject: { payment: order },
        data: { seen_at: '2026-11-23T18:00:00.123Z' },
      }
      const now = {
        cause: 'poll',
        queue: 'reports',
        attempts: 0,
        after: 0,
        exception: null,
      } as const
      await deferEvents(room.db, [claim], now)
      await room.dispatch(await leaseDeferred(room, { id: claim.eventId }))
      assert.deepEqual(JSON.parse((await events(room))[0]?.data ?? ''), claim.data)
    })

    test('is finished without listeners where another has claimed it', async () => {
      const order = await payment(room, { status: 'paid' })
      room.on('PaymentSucceeded', () => assert.fail('it was claimed before'))
      const first = await deferredOf(order)
      await room.db
        .insertInto('billing.events')
        .values({
          id: newUuid(),
          dedup_key: `payment:paid:${order.id}`,
          type: 'PaymentSucceeded',
          source: 'call',
          data: '{}',
        })
        .execute()
      await room.dispatch(first)
      assert.deepEqual(await endOf(first), finished)
      assert.deepEqual(logged(room), [])
    })

    test('of a refund is dispatched under the lock of its charge', async () => {
      const charge = await payment(room, { status: 'paid' })
      const refund = await payment(room, {
        type: 'refund',
        parent_id: charge.id,
        status: 'paid',
        amount: 1_000n,
      })
      const about = { key: `refund:paid:${refund.id}`, type: 'PaymentRefunded' } as const
      const leased = await deferred(about, { payment_id: refund.id })
      const lock = 'select from billing.payments where id = $1 for no key update nowait'
      let isLocked = false
      room.on('PaymentRefunded', async (event) => {
        assert.equal(event.payment.id, refund.id)
        const look = room.database.pool.query(lock, [charge.id])
        await look.catch(({ code }: { code: string }) => (isLocked = code === '55P03'))
      })
      await room.dispatch(leased)
      assert.equal(isLocked, true)
      assert.deepEqual(await eventTypes(room), ['PaymentRefunded'])
    })

    test('of a charge is dispatched under its lock', async () => {
      const charge = await payment(room, { status: 'paid' })
      const leased = await deferredOf(charge)
      const lock = 'select from billing.payments where id = $1 for no key update nowait'
      let isLocked = false
      room.on('PaymentSucceeded', async () => {
        const look = room.database.pool.query(lock, [charge.id])
        await look.catch(({ code }: { code: string }) => (isLocked = code === '55P03'))
      })
      await room.dispatch(leased)
      assert.equal(isLocked, true)
    })

    test('of a dispute has the dispute and its charge, locked', async () => {
      const charge = await payment(room, { status: 'paid' })
      const opened = await dispute(charge.id, 'open')
      const lock = 'select from billing.payments where id = $1 for no key update nowait'
      const seen: unknown[] = []
      room.on('PaymentDisputed', async (event) => {
        seen.push(event.payment.id, event.dispute.id, event.dispute.status)
        const look = room.database.pool.query(lock, [charge.id])
        await look.catch(({ code }: { code: string }) => seen.push(code))
      })
      const leased = await deferredOpening(opened)
      await room.dispatch(leased)
      assert.deepEqual(seen, [charge.id, opened.id, 'open', '55P03'])
      assert.deepEqual(await endOf(leased), finished)
      assert.equal((await events(room))[0]?.payment_id, charge.id)
    })

    test('of a saved card has the card', async () => {
      const method = await card()
      const seen: string[] = []
      room.on('PaymentMethodAttached', ({ paymentMethod }) => void seen.push(paymentMethod.id))
      const leased = await deferredCard(method)
      await room.dispatch(leased)
      assert.deepEqual(seen, [method.id])
      assert.deepEqual(await endOf(leased), finished)
      assert.equal((await events(room))[0]?.payment_method_id, method.id)
      assert.equal(lineOf(room, 'PaymentMethodAttached')['paymentMethod'], method.id)
    })
  })

  describe('a deferred event that was overtaken', () => {
    for (const status of ['failed', 'canceled'] as const) {
      test(`${status}, and paid since: it is superseded`, async () => {
        const order = await payment(room, { status: 'paid' })
        const type = status === 'failed' ? 'PaymentFailed' : 'PaymentCanceled'
        const seen: unknown[] = []
        room.on(type, () => assert.fail('it would downgrade a paid order'), { name: 'plain' })
        room.on(type, (event) => void seen.push(event.superseded, event.payment.status), {
          name: 'asking',
          superseded: true,
        })
        const leased = await deferredOf(order, status)
        await room.dispatch(leased)
        assert.deepEqual(seen, [true, 'paid'])
        assert.equal((await events(room))[0]?.superseded, true)
        assert.deepEqual(await endOf(leased), finished)
        assert.equal(lineOf(room, type)['superseded'], true)
      })
    }
  })

  describe('a deferred event of a pending payment', () => {
    const ofAnyStatus = typesOfEvents.filter((type) => {
      const { key, says, firedBy }: CatalogueRow = catalogue[type]
      return key.endsWith(':<payment>') && says === undefined && firedBy !== 'a subscription'
    })
    for (const type of ofAnyStatus) {
      test(`is dispatched, if its type says nothing of the status: ${type}`, async () => {
        const { id } = await payment(room)
        const heard: string[] = []
        room.on(type, (event) => void heard.push(event.type))
        const key = filledKey(catalogue[type].key, { payment: id })
        const leased = await deferred({ key, type }, { payment_id: id })
        await room.dispatch(leased)
        assert.deepEqual(heard, [type])
        assert.deepEqual(await endOf(leased), finished)
      })
    }

    test('fails, if the payment would have to be something else', async () => {
      const charge = await payment(room, { status: 'paid' })
      const refund = await payment(room, {
        type: 'refund',
        parent_id: charge.id,
        amount: 1_000n,
      })
      const order = await payment(room)
      const about = { key: `refund:paid:${refund.id}`, type: 'PaymentRefunded' } as const
      for (const [leased, text] of [
        [await deferredOf(order, 'failed'), `payment:failed:${order.id}: payment ${order.id}`],
        [await deferred(about, { payment_id: refund.id }), `${about.key}: payment ${refund.id}`],
      ] as const) {
        await room.dispatch(leased)
        const { end, exception } = await endOf(leased)
        assert.equal(end, 'pending 1')
        assert.ok(exception?.includes(`${text} is pending`), String(exception))
      }
    })
  })

  describe('a deferred event that no longer holds is finished without an event', () => {
    const isForgotten = async (leased: LeasedEvent) => {
      room.on(
        [
          'PaymentSucceeded',
          'PaymentFailed',
          'PaymentRefunded',
          'PaymentMethodAttached',
          'PaymentDisputed',
        ],
        () => assert.fail('there is no event'),
        { superseded: true },
      )
      await room.dispatch(leased)
      assert.deepEqual(await endOf(leased), finished)
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), [])
    }
    const refundIn = async (status: 'paid' | 'failed') => {
      const charge = await payment(room, { status: 'paid' })
      const parent = { type: 'refund', parent_id: charge.id } as const
      return payment(room, { ...parent, status, amount: 1_000n })
    }

    test('a decline, and canceled since', async () => {
      await isForgotten(await deferredOf(await payment(room, { status: 'canceled' }), 'failed'))
    })

    test('a refund that was returned', async () => {
      const { id } = await refundIn('failed')
      const about = { key: `refund:paid:${id}`, type: 'PaymentRefunded' } as const
      await isForgotten(await deferred(about, { payment_id: id }))
    })

    test('a card that was removed', async () => {
      await isForgotten(await deferredCard(await card({ status: 'detached' })))
    })

    test('an open dispute that has ended', async () => {
      const { id } = await payment(room, { status: 'paid' })
      await isForgotten(await deferredOpening(await dispute(id, 'lost')))
    })
  })

  describe('a deferred event that is not what its row says fails', () => {
    const fails = async (leased: LeasedEvent, reason: RegExp) => {
      await room.dispatch(leased)
      const { end, exception } = await endOf(leased)
      assert.equal(end, 'pending 1')
      assert.match(String(exception), reason)
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), ['warn delivery failed, will be retried'])
    }

    test('the decline of a refund: no payment has its key', async () => {
      const { id: parent_id } = await payment(room, { status: 'paid' })
      const parent = { type: 'refund', parent_id } as const
      const { id } = await payment(room, { ...parent, status: 'paid', amount: 1_000n })
      const about = { key: `payment:failed:${id}`, type: 'PaymentFailed' } as const
      await fails(await deferred(about, { payment_id: id }), /payment:failed:<payment> lacks/)
    })

    test('of a payment under another’s key', async () => {
      const [one, other] = [await payment(room, { status: 'paid' }), await payment(room)]
      const leased = await deferredOf(other, 'paid', { payment_id: one.id })
      await fails(leased, new RegExp(`is not the key of its subject, which is .*${one.id}`))
    })

    test('of a payment that is not pending, too', async () => {
      const { id } = await payment(room, { status: 'paid' })
      const about = { key: `payment:expiring:${id}`, type: 'CheckoutReturned' } as const
      await fails(await deferred(about, { payment_id: id }), /is not the key/)
    })

    test('of a type that this version does not know', async () => {
      const { id } = await payment(room, { status: 'paid' })
      const about = { key: `payment:expiring:${id}`, type: 'PaymentExpiring' as EventType }
      await fails(await deferred(about, { payment_id: id }), /there is no event PaymentExpiring/)
    })

    test('a dispute that is not there', async () => {
      const { id } = await payment(room, { status: 'paid' })
      const gone = { id: newUuid(), payment_id: id }
      await fails(await deferredOpening(gone), new RegExp(`dispute ${gone.id} .* is gone`))
    })

    test('of nothing', async () => {
      await fails(
        await deferred({ key: 'payment:paid:gone' }),
        /payment:paid:gone is about nothing/,
      )
    })
  })

  describe('a deferred event whose listener throws', () => {
    const breaking = (text = 'no stock, hush') =>
      room.on(
        'PaymentSucceeded',
        async (_event, { tx, afterCommit }) => {
          await tx.query(`insert into notes (author, about) values ('shop', 'heard')`)
          afterCommit(() => assert.fail('nothing of it is committed'))
          throw new Error(text)
        },
        { name: 'shop' },
      )

    test('is tried again after 10 s, then 60 s, then no more', async () => {
      const order = await payment(room, { status: 'paid' })
      breaking()
      const leased = await deferredOf(order)
      await room.dispatch(leased)
      const first = await deferredRow(room, leased)
      assert.deepEqual(
        [first.state, first.attempts, first.lease_token, first.processed_at],
        ['pending', 1, null, null],
      )
      assert.match(first.exception ?? '', /^in listener shop: Error: no stock, \[secret\]\n/)
      assertDueAfter(room, first.next_attempt_at, 10)
      const { err, ...line } = lineOf(room, 'delivery failed, will be retried')
      assert.match(JSON.stringify(err), /no stock/)
      const about = { delivery: leased.id, event: leased.dedup_key, listener: 'shop' }
      assert.deepEqual(line, about)

      await room.dispatch(await leaseDeferred(room, leased))
      assertDueAfter(room, (await deferredRow(room, leased)).next_attempt_at, 60)

      await room.dispatch(await leaseDeferred(room, leased))
      const { end, isFree, isOver } = await endOf(leased)
      assert.deepEqual([end, isFree, isOver], ['failed 3', true, true])
      assert.deepEqual(logged(room), [
        'warn delivery failed, will be retried',
        'warn delivery failed, will be retried',
        'error delivery failed: no attempts left',
      ])
      assert.deepEqual([await eventTypes(room), await notes(room)], [[], []])
      // Nothing is due yet.
      assert.deepEqual(room.woken, [])
    })

    test('and commits: what it committed of the event is taken back', async () => {
      const order = await payment(room, { status: 'paid' })
      room.on('PaymentSucceeded', (_event, { tx }) => tx.client.query('select 1; commit'))
      const leased = await deferredOf(order)
      await room.dispatch(leased)
      assert.deepEqual(await eventTypes(room), [])
      const { end, exception, isFree } = await endOf(leased)
      assert.deepEqual([end, isFree], ['pending 1', true])
      assert.match(exception ?? '', /^QuittanceError: a listener ended the transaction/)
      const { err: _err, ...line } = lineOf(room, 'delivery failed, will be retried')
      assert.deepEqual(line, { delivery: leased.id, event: leased.dedup_key })
    })

    test('and loses the transaction takes nothing back from a worker that has taken it over', async () => {
      const order = await payment(room, { status: 'paid' })
      const leased = await deferredOf(order)
      const dispatched = {
        id: leased.id,
        dedup_key: `payment:paid:${order.id}`,
        type: 'PaymentSucceeded',
        payment_id: order.id,
        source: 'poll' as const,
        data: '{}',
      }
      room.on('PaymentSucceeded', async (_event, { tx }) => {
        await tx.client.query('select 1; rollback')
        await stealLease(room, 'deferred_events', leased)
        await room.db.insertInto('billing.events').values(dispatched).execute()
      })
      await room.dispatch(leased)
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
      assert.equal((await endOf(leased)).end, 'processing 0')
      assert.deepEqual(logged(room), [lostLine])
    })

    test('is the other worker’s where that one has taken it over meanwhile', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      room.on('PaymentSucceeded', async () => {
        await stealLease(room, 'deferred_events', leased)
        throw new Error('no stock')
      })
      await room.dispatch(leased)
      assert.equal((await endOf(leased)).end, 'processing 0')
      assert.deepEqual(logged(room), [lostLine])
    })

    test('and takes too long has had its attempt', async () => {
      room.give({ listenersMayTakeMs: 60 })
      room.on('PaymentSucceeded', () => new Promise(() => {}))
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      await room.dispatch(leased)
      const { end, exception } = await endOf(leased)
      assert.equal(end, 'pending 1')
      assert.match(exception ?? '', /did not end within 0.06 s/)
    })
  })

  describe('a deferred event whose listener the server rolled back in passing', () => {
    const busy = () =>
      room.on('PaymentSucceeded', (_event, { tx }) =>
        tx.query(`do $$ begin raise exception 'busy' using errcode = '40001'; end $$`),
      )

    test('goes back without an attempt, for a while that grows', async () => {
      busy()
      const order = await payment(room, { status: 'paid' })
      const leased = await deferredOf(order, 'paid', { times_returned: 2 })
      await room.dispatch(leased)
      const row = await deferredRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.lease_token, row.exception],
        ['pending', 0, 3, null, null],
      )
      assertDueAfter(room, row.next_attempt_at, 0.8)
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), ['warn passing database failure, will try again'])
      const { err, ...line } = lineOf(room, 'passing database failure, will try again')
      assert.match(JSON.stringify(err), /busy/)
      assert.deepEqual(line, { table: 'billing.deferred_events', id: leased.id })
    })

    test('has had its attempt where that went on for too long', async () => {
      busy()
      const order = await payment(room, { status: 'paid' })
      const leased = await deferredOf(order, 'paid', { times_returned: 20 })
      await room.dispatch(leased)
      const { end, exception } = await endOf(leased)
      assert.equal(end, 'pending 1')
      assert.match(exception ?? '', /^in listener listener: error: busy/)
    })

    test('is the other worker’s where that one has taken it over meanwhile', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      room.on('PaymentSucceeded', async () => {
        await stealLease(room, 'deferred_events', leased)
        throw Object.assign(new Error('busy'), { code: '40001', severity: 'ERROR' })
      })
      await room.dispatch(leased)
      assert.equal((await endOf(leased)).end, 'processing 0')
      assert.deepEqual(logged(room), [lostLine])
    })
  })

  describe('a deferred event that cannot be dispatched', () => {
    test('is left to others where this process lacks a listener', async () => {
      await newcomer(room, 'PaymentFailed')
      room.on('PaymentSucceeded', () => assert.fail('it may not run here'))
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      await room.dispatch(leased)
      const row = await deferredRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.exception, row.lease_token],
        ['pending', 0, 0, null, null],
      )
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), ['warn left to a process with every listener'])
      const { err: _err, ...line } = lineOf(room, 'left to a process with every listener')
      assert.deepEqual(line, { table: 'billing.deferred_events', rows: 1 })
    })

    test('goes back without an attempt where the failure passes', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }), 'paid', {
        times_returned: 1,
      })
      await fault(room, { table: 'events', on: 'insert', sqlState: '40P01' })
      await room.dispatch(leased)
      const row = await deferredRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.lease_token],
        ['pending', 0, 2, null],
      )
      assertDueAfter(room, row.next_attempt_at, 0.4)
      const { err: _err, ...line } = lineOf(room, 'passing database failure, will try again')
      assert.deepEqual(line, { table: 'billing.deferred_events', id: leased.id })
    })

    test('has had its attempt where that went on for too long', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }), 'paid', {
        times_returned: 20,
      })
      await fault(room, { table: 'events', on: 'insert', sqlState: '40P01' })
      await room.dispatch(leased)
      assert.equal((await endOf(leased)).end, 'pending 1')
    })

    test('keeps its event where only the answer to the commit was lost', async () => {
      const { database } = room
      const unanswered: typeof database.transaction = async (work) => {
        await database.transaction(work)
        throw new Error('Connection terminated unexpectedly')
      }
      const leased = await deferredOf(await payment(room, { status: 'paid' }), 'paid', {
        times_returned: 20,
      })
      room.give({ database: { ...database, transaction: unanswered } })
      await room.dispatch(leased)
      assert.deepEqual(await endOf(leased), finished)
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
    })

    test('has had its attempt where the failure does not pass', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      await fault(room, { table: 'events', on: 'insert', sqlState: '22003' })
      await room.dispatch(leased)
      const { end, exception } = await endOf(leased)
      assert.equal(end, 'pending 1')
      assert.match(exception ?? '', /^error: struck/)
    })

    test('is the other worker’s where that one has taken it over; nothing more is tried', async (t) => {
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1))
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      await stealLease(room, 'deferred_events', leased)
      const sent = statements(t)
      await room.dispatch(leased)
      assert.equal(sent.filter((text) => text.startsWith('begin')).length, 1)
      assert.equal(runs, 1)
      assert.deepEqual(await eventTypes(room), [])
      const { end, isFree } = await endOf(leased)
      assert.deepEqual([end, isFree], ['processing 0', false])
      assert.deepEqual(logged(room), [lostLine])
      assert.equal(lineOf(room, lostLine.slice(5))['delivery'], leased.id)
    })

    test('is the other worker’s even where it no longer holds', async () => {
      const leased = await deferredOf(await payment(room))
      await stealLease(room, 'deferred_events', leased)
      await room.dispatch(leased)
      assert.equal((await endOf(leased)).end, 'processing 0')
    })

    test('is left until its lease runs out where not even that can be written', async () => {
      const leased = await deferredOf(await payment(room, { status: 'paid' }))
      await fault(room, { table: 'deferred_events', on: 'update', sqlState: '22003' })
      await room.dispatch(leased)
      assert.equal((await endOf(leased)).end, 'processing 0')
      const { err, ...line } = lineOf(room, 'lease left to run out')
      assert.match(JSON.stringify(err), /struck/)
      assert.deepEqual(line, { delivery: leased.id })
      assert.equal(logged(room).at(-1), 'error lease left to run out')
    })
  })
})
