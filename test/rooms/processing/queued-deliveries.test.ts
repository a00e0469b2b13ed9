import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Insertable } from 'kysely'
import pg from 'pg'
import type { DeliveriesTable, EventsTable } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { QuittanceError } from '../../../src/kernel/errors.ts'
import type { LeasedDelivery } from '../../../src/queue/deliveries.ts'
import { onPostgres } from '../../support/databases.ts'
import {
  assertDueAfter,
  delivery,
  deliveryRow,
  fault,
  leaseDelivery,
  lineOf,
  logged,
  payment,
  shortTimers,
  statements,
  stealLease,
  useRoom,
} from './room.ts'

const lostLine =
  'warn lease lost while delivering; another worker has the delivery, or it has ended'

/** Where a fault strikes once a listener has run. */
const onceRun = { table: 'deliveries', on: 'update', state: 'processed' } as const

/** What a queued listener may take. */
const listenerMayTakeMs = 60_000

onPostgres(() => {
  const room = useRoom()

  /** A claimed event; by default that some payment is paid. */
  const claimed = async (fields: Partial<Insertable<EventsTable>> = {}) => {
    const row = {
      id: newUuid(),
      dedup_key: `payment:paid:${newUuid()}`,
      type: 'PaymentSucceeded',
      source: 'call' as const,
      data: '{}',
      ...fields,
    }
    await room.db.insertInto('billing.events').values(row).execute()
    return row
  }
  /** Its delivery to a queued listener, and ours to make. */
  const due = (event: { readonly id: string }, fields: Partial<Insertable<DeliveriesTable>> = {}) =>
    delivery(room, { event_id: event.id, listener: 'queued', ...fields })
  const endOf = async (leased: LeasedDelivery) => {
    const { state, attempts, times_returned } = await deliveryRow(room, leased)
    return `${state} ${attempts} ${times_returned}`
  }

  describe('a delivery', () => {
    test('runs its listener with the event as it was claimed and the payment as it is now', async () => {
      const order = await payment(room, { status: 'paid' })
      const seen: unknown[] = []
      room.onQueued('PaymentSucceeded', (event, { idempotencyKey, signal }) => {
        seen.push(event, idempotencyKey, signal.aborted)
      })
      const event = await claimed({ payment_id: order.id, data: '{"note":"x"}', superseded: true })
      const leased = await due(event, { exception: 'of an earlier attempt' })
      await room.deliver(leased)
      const [heard, key, isAborted] = seen
      const { createdAt, ...rest } = heard as Record<string, unknown>
      assert.ok(createdAt instanceof Date)
      assert.deepEqual(rest, {
        id: event.id,
        type: 'PaymentSucceeded',
        dedupKey: event.dedup_key,
        superseded: true,
        payment: order,
      })
      assert.deepEqual([key, isAborted], [`${event.dedup_key}/queued`, false])
      const row = await deliveryRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.exception, row.lease_token, row.lease_until],
        ['processed', 0, null, null, null],
      )
      assert.ok(row.processed_at)
      assert.deepEqual(logged(room), [])
    })

    test('of a saved card has the card', async () => {
      const { id } = await room.db
        .insertInto('billing.payment_methods')
        .values({ id: newUuid(), gateway: 'stating', status: 'attached', provider_reference: 'pm' })
        .returning('id')
        .executeTakeFirstOrThrow()
      const order = await payment(room)
      const seen: unknown[] = []
      room.onQueued('PaymentMethodAttached', (event) => {
        seen.push(event.paymentMethod.id, 'payment' in event)
      })
      const about = { payment_method_id: id, payment_id: order.id }
      await room.deliver(await due(await claimed({ type: 'PaymentMethodAttached', ...about })))
      assert.deepEqual(seen, [id, false])
    })

    test('of an event about nothing has nothing', async () => {
      const seen: unknown[] = []
      room.onQueued('PaymentSucceeded', (event) => void seen.push(event.payment))
      await room.deliver(await due(await claimed()))
      assert.deepEqual(seen, [undefined])
    })

    test('is the other worker’s where that one has taken it over', async () => {
      let end = () => {}
      room.onQueued('PaymentSucceeded', () => end())
      for (const ending of [
        () => {},
        () => {
          throw new Error('mail is away')
        },
      ]) {
        end = ending
        const leased = await due(await claimed())
        await stealLease(room, 'deliveries', leased)
        await room.deliver(leased)
        assert.equal(await endOf(leased), 'processing 0 0')
        assert.equal(room.lines.at(-1)?.['delivery'], leased.id)
      }
      assert.deepEqual(logged(room), [lostLine, lostLine])
    })

    test('is loaded and finished with all that are under way, by statements that are prepared once', async (t) => {
      const order = await payment(room, { status: 'paid' })
      let heard = 0
      room.onQueued('PaymentSucceeded', () => void (heard += 1))
      const about = { payment_id: order.id }
      const leased = [
        await due(await claimed(about)),
        await due(await claimed()),
        await due(await claimed(about)),
      ]
      const sent = statements(t)
      await Promise.all(leased.map(room.deliver))
      assert.equal(heard, 3)
      const names = sent.map((text) => /^\s*\/\* quittance:([a-z-]+) \*\//.exec(text)?.[1])
      assert.equal(names.includes(undefined), false, sent.join('\n'))
      assert.equal(new Set(names).size, names.length)
      assert.deepEqual(await Promise.all(leased.map(endOf)), Array(3).fill('processed 0 0'))
    })
  })

  describe('a delivery whose listener', () => {
    test('throws is tried again after 10 s, then 60 s, then no more', async () => {
      room.onQueued('PaymentSucceeded', () => Promise.reject(new Error('mail is away, hush')))
      const leased = await due(await claimed())
      await room.deliver(leased)
      const first = await deliveryRow(room, leased)
      assert.deepEqual(
        [first.state, first.attempts, first.times_returned, first.lease_token],
        ['pending', 1, 0, null],
      )
      // Whose it is stands on the row.
      assert.match(first.exception ?? '', /^Error: mail is away, \[secret\]\n/)
      assertDueAfter(room, first.next_attempt_at, 10)
      const { err, ...line } = lineOf(room, 'delivery failed, will be retried')
      assert.match(JSON.stringify(err), /mail is away/)
      assert.deepEqual(line, { delivery: leased.id, listener: 'queued' })

      await room.deliver(await leaseDelivery(room, leased))
      assertDueAfter(room, (await deliveryRow(room, leased)).next_attempt_at, 60)
      await room.deliver(await leaseDelivery(room, leased))
      assert.equal(await endOf(leased), 'failed 3 0')
      assert.equal(logged(room).at(-1), 'error delivery failed: no attempts left')
    })

    test('throws at once has had its attempt as well', async () => {
      room.onQueued('PaymentSucceeded', () => {
        throw new Error('mail is away')
      })
      const leased = await due(await claimed())
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'pending 1 0')
    })

    test('takes over 60 s has had its attempt', async (t) => {
      shortTimers(t, listenerMayTakeMs)
      let signal: AbortSignal | undefined
      room.onQueued('PaymentSucceeded', (_event, context) => {
        signal = context.signal
        return new Promise(() => {})
      })
      const leased = await due(await claimed())
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'pending 1 0')
      assert.match(
        (await deliveryRow(room, leased)).exception ?? '',
        /^QuittanceError: queued listener queued did not end within 60 s/,
      )
      assert.ok(signal?.reason instanceof QuittanceError)
      assert.equal(signal.reason.code, 'listener_timed_out')
      assert.equal(signal.reason.fix, 'Make the listener faster, or split its work.')
    })

    test('is not registered for such events any more has had its attempt', async () => {
      room.onQueued('PaymentFailed')
      const leased = await due(await claimed())
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'pending 1 0')
      const text = 'listener queued no longer listens to PaymentSucceeded'
      assert.ok((await deliveryRow(room, leased)).exception?.startsWith(`QuittanceError: ${text}`))
      const { err } = lineOf(room, 'delivery failed, will be retried')
      assert.match(JSON.stringify(err), /listener_missing/)
    })
  })

  describe('a delivery that meets the database', () => {
    test('fail for a moment after its listener has run is finished, and runs it no more', async () => {
      let heard = 0
      room.onQueued('PaymentSucceeded', () => void (heard += 1))
      const leased = await due(await claimed())
      await fault(room, { ...onceRun, sqlState: '40P01', times: 1 })
      await room.deliver(leased)
      assert.deepEqual([heard, await endOf(leased)], [1, 'processed 0 0'])
      assert.deepEqual(logged(room), [])
    })

    test('fail goes back without an attempt', async () => {
      room.onQueued('PaymentSucceeded')
      const leased = await due(await claimed(), { times_returned: 1 })
      await fault(room, { ...onceRun, sqlState: 'XX000' })
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'pending 0 2')
      assertDueAfter(room, (await deliveryRow(room, leased)).next_attempt_at, 0.4)
      const { err, ...line } = lineOf(room, 'passing database failure, will try again')
      assert.match(JSON.stringify(err), /struck/)
      assert.deepEqual(line, { table: 'billing.deliveries', id: leased.id })
    })

    test('fail is the other worker’s where that one has taken it over', async (t) => {
      room.onQueued('PaymentSucceeded')
      const leased = await due(await claimed())
      await stealLease(room, 'deliveries', leased)
      const cut = t.mock.method(pg.Pool.prototype, 'connect', () => {
        cut.mock.restore()
        return Promise.reject(new Error('Connection terminated unexpectedly'))
      })
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'processing 0 0')
      assert.deepEqual(logged(room), ['warn passing database failure, will try again', lostLine])
    })

    test('without its event goes back without an attempt', async () => {
      const event = await claimed()
      const leased = await due(event)
      await room.database.pool.query(`set session_replication_role = replica;
        delete from billing.events; set session_replication_role = origin`)
      await room.deliver(leased)
      assert.equal(await endOf(leased), 'pending 0 1')
      const { err } = lineOf(room, 'passing database failure, will try again')
      assert.match(JSON.stringify(err), new RegExp(`event ${event.id} is gone`))
    })
  })
})
