import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { QuittanceError } from '../../../src/kernel/errors.ts'
import type { ListenerContext } from '../../../src/listeners/listener.ts'
import { onPostgres } from '../../support/databases.ts'
import { handTimers } from '../../support/hand-timers.ts'
import { until } from '../../support/until.ts'
import { paid } from '../../support/statements.ts'
import type { Statement } from '../../support/stating-gateway.ts'
import {
  assertDueAfter,
  call,
  callRow,
  eventTypes,
  fault,
  leaseCall,
  logged,
  notes,
  paying,
  payment,
  shortTimers,
  statusOf,
  stealLease,
  useRoom,
} from './room.ts'

/** The pause between two tries of the short transaction. */
const pauseMs = 1_000

onPostgres(() => {
  const room = useRoom()
  const note = ({ tx }: ListenerContext, author: string) =>
    tx.query(`insert into notes (author, about) values ($1, 'heard')`, [author])
  /** Written so that it is not refused beforehand. */
  const commit = ({ tx }: ListenerContext) => tx.client.query('select 1; commit')

  describe('a call whose listener ends the transaction', () => {
    for (const [what, statement] of [
      ['commits it', 'select 1; commit'],
      ['commits it and begins another', 'select 1; commit; begin'],
      ['rolls it back', 'select 1; rollback'],
    ] as const) {
      test(`${what}: the payment is kept in a second one, and the attempt is recorded`, async () => {
        const { order, leased } = await paying(room)
        room.on('PaymentSucceeded', (_event, { tx }) => tx.client.query(statement), {
          name: 'shop',
        })
        assert.equal(await room.processOne(leased), 'failed')
        const row = await callRow(room, leased)
        assert.deepEqual(
          [row.state, row.attempts, row.payment_id, row.lease_token, row.needs_review],
          ['pending', 1, order.id, null, false],
        )
        assert.match(row.exception ?? '', /^QuittanceError: a listener ended the transaction/)
        assertDueAfter(room, row.next_attempt_at, 10)
        assert.equal(await statusOf(room, order), 'paid')
        assert.deepEqual(await eventTypes(room), [])
        assert.deepEqual(logged(room), ['warn attempt failed, will be retried'])
      })
    }

    test('what it has committed is claimed anew by the retry, which runs every listener', async () => {
      const { order, leased } = await paying(room)
      const heard: string[] = []
      let broken = true
      room.on('PaymentSucceeded', () => void heard.push('first'), { name: 'first' })
      room.on(
        'PaymentSucceeded',
        async (_event, context) => {
          heard.push('second')
          if (broken) await commit(context)
        },
        { name: 'second' },
      )
      assert.equal(await room.processOne(leased), 'failed')
      broken = false
      assert.equal(await room.processOne(await leaseCall(room, leased)), 'done')
      assert.deepEqual(heard, ['first', 'second', 'first', 'second'])
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
      assert.equal((await callRow(room, leased)).exception, null)
      assert.equal(await statusOf(room, order), 'paid')
    })

    test('is marked where what it says needs a person', async () => {
      const { order } = await paying(room)
      const other = await payment(room)
      room.on('PaymentSucceeded', (_event, context) => commit(context))
      const mismatch: Statement = { ...paid(other), amount: 1n }
      const leased = await call(room, [paid(order), mismatch])
      assert.equal(await room.processOne(leased), 'failed')
      const { needs_review, payment_id } = await callRow(room, leased)
      assert.deepEqual([needs_review, payment_id], [true, order.id])
    })

    test('an event of a saved card alone is about no payment', async () => {
      room.on('PaymentMethodAttached', (_event, context) => commit(context))
      const leased = await call(room, [
        { type: 'payment_method', status: 'attached', reference: 'pm_1' },
      ])
      assert.equal(await room.processOne(leased), 'failed')
      const { payment_id, attempts } = await callRow(room, leased)
      assert.deepEqual([payment_id, attempts], [null, 1])
      assert.deepEqual(await eventTypes(room), [])
    })

    test('is lost where another worker has taken it over meanwhile: the payment is that one’s', async () => {
      const { order, leased } = await paying(room)
      room.on('PaymentSucceeded', async (_event, { tx }) => {
        await stealLease(room, 'webhook_calls', leased)
        await tx.client.query('select 1; rollback')
      })
      assert.equal(await room.processOne(leased), 'lost')
      const { attempts, state } = await callRow(room, leased)
      assert.deepEqual([attempts, state], [0, 'processing'])
      assert.equal(await statusOf(room, order), 'pending')
      assert.equal(
        logged(room).at(-1),
        'warn lease lost while processing; another worker has the call, or it has ended',
      )
    })

    test('has had its attempt even where the payment cannot be kept', async () => {
      const { order, leased } = await paying(room)
      room.on('PaymentSucceeded', async (_event, { tx }) => {
        await tx.client.query('select 1; rollback')
        await fault(room, { table: 'payments', on: 'update', sqlState: '22003' })
      })
      assert.equal(await room.processOne(leased), 'failed')
      const { attempts, exception } = await callRow(room, leased)
      assert.equal(attempts, 1)
      assert.match(exception ?? '', /^error: struck/)
      assert.equal(await statusOf(room, order), 'pending')
    })
  })

  describe('the second transaction', () => {
    /** A listener ends the transaction; from then on, payments cannot be written so many times. */
    const breaking = async (times: number, fields = {}) => {
      const made = await paying(room, fields)
      room.on('PaymentSucceeded', async (_event, { tx }) => {
        await tx.client.query('select 1; rollback')
        await fault(room, { table: 'payments', on: 'update', sqlState: '55P03', times })
      })
      return made
    }

    test('is tried again where its failure passes, for the lost one may hold its locks yet', async (t) => {
      shortTimers(t, pauseMs)
      const { order, leased } = await breaking(4)
      assert.equal(await room.processOne(leased), 'failed')
      assert.equal(await statusOf(room, order), 'paid')
      const { attempts, exception } = await callRow(room, leased)
      assert.equal(attempts, 1)
      assert.match(exception ?? '', /a listener ended the transaction/)
    })

    test('is tried five times; then the call goes back without an attempt', async (t) => {
      shortTimers(t, pauseMs)
      const { order, leased } = await breaking(5)
      assert.equal(await room.processOne(leased), 'returned')
      assert.equal(await statusOf(room, order), 'pending')
      const { attempts, times_returned } = await callRow(room, leased)
      assert.deepEqual([attempts, times_returned], [0, 1])
    })

    test('is tried five times; then a call that went back too often has had its attempt', async (t) => {
      shortTimers(t, pauseMs)
      const { leased } = await breaking(5, { times_returned: 20 })
      assert.equal(await room.processOne(leased), 'failed')
      const { attempts, times_returned, exception } = await callRow(room, leased)
      assert.deepEqual([attempts, times_returned], [1, 20])
      assert.match(exception ?? '', /struck/)
    })
  })

  describe('a call whose listeners take too long', () => {
    test('their transaction is cut; the payment is kept, and the attempt is recorded', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { order, leased } = await paying(room)
      let signal: AbortSignal | undefined
      room.on('PaymentSucceeded', (_event, context) => note(context, 'quick'), { name: 'quick' })
      room.on(
        'PaymentSucceeded',
        async (_event, context) => {
          signal = context.signal
          time.strike()
          await new Promise(() => {})
        },
        { name: 'hanging' },
      )
      assert.equal(await room.processOne(leased), 'failed')
      const seconds = time.lengthMs / 1000
      const text = `listener hanging did not end within ${seconds} s; its transaction is cut`
      const { attempts, exception, payment_id } = await callRow(room, leased)
      assert.deepEqual([attempts, payment_id], [1, order.id])
      assert.ok(exception?.startsWith(`QuittanceError: ${text}`), String(exception))
      assert.ok(signal?.reason instanceof QuittanceError)
      assert.deepEqual([signal.reason.code, signal.reason.message], ['listener_timed_out', text])
      assert.equal(await statusOf(room, order), 'paid')
      assert.deepEqual([await notes(room), await eventTypes(room)], [[], []])
    })

    test('so it is where the server keeps them waiting', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { leased } = await paying(room)
      room.on('PaymentSucceeded', (_event, { tx }) => {
        const answer = tx.query('select pg_sleep(0.01)')
        time.strike()
        return answer
      })
      assert.equal(await room.processOne(leased), 'failed')
      assert.match((await callRow(room, leased)).exception ?? '', /listener listener did not end/)
    })

    test('what they wait for another transaction that holds the claim is not their time', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { order, leased } = await paying(room)
      room.on('PaymentSucceeded', () => {})
      const holder = await room.database.pool.connect()
      await holder.query('begin')
      await holder.query(
        `insert into billing.events (id, dedup_key, type, source)
        values (gen_random_uuid(), $1, 'PaymentSucceeded', 'call')`,
        [`payment:paid:${order.id}`],
      )
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
      // Through another connection: a transaction sees what others do only once.
      const waiting = async () => {
        const text = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
        return (await room.database.pool.query(text, [rows[0]?.pid])).rowCount
      }
      const processed = room.processOne(leased)
      await until(async () => (await waiting()) === 1, { what: 'it waits for the claim' })
      // None of it has begun.
      time.strike()
      await holder.query('rollback')
      holder.release()
      assert.equal(await processed, 'done')
      assert.equal(await statusOf(room, order), 'paid')
    })

    test('all of a call have that time together', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { leased } = await paying(room)
      const begun: number[] = []
      room.on('PaymentSucceeded', () => void begun.push(time.started), { name: 'one' })
      const hang = () => {
        begun.push(time.started)
        time.strike()
        return new Promise<void>(() => {})
      }
      room.on('PaymentSucceeded', hang, { name: 'two' })
      assert.equal(await room.processOne(leased), 'failed')
      assert.match((await callRow(room, leased)).exception ?? '', /listener two did not end/)
      assert.deepEqual(begun, [1, 1], 'the time of the first one goes on for the second')
    })
  })

  describe('a failure that is no listener’s', () => {
    test('does not keep the payment pending where the transaction fails after it', async () => {
      const { order, leased } = await paying(room)
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1))
      await fault(room, { table: 'events', on: 'insert', sqlState: '22003', times: 1 })
      assert.equal(await room.processOne(leased), 'failed')
      const { exception, attempts } = await callRow(room, leased)
      assert.match(exception ?? '', /^error: struck/)
      assert.deepEqual([attempts, runs], [1, 0])
      assert.equal(await statusOf(room, order), 'paid')
      assert.equal(await room.processOne(await leaseCall(room, leased)), 'done')
      assert.equal(runs, 1)
    })
  })
})
