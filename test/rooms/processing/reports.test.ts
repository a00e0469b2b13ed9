import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Outcome } from '../../../src/payments/outcome.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { onPostgres } from '../../support/databases.ts'
import {
  assertDueAfter,
  deferredRows,
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
  statusOf,
  useRoom,
} from './room.ts'

onPostgres(() => {
  const room = useRoom()

  const isPaid = ({ id, amount, currency }: Payment): Outcome => ({
    type: 'payment',
    payment: { id },
    status: 'paid',
    amount,
    currency,
  })
  const report = (...outcomes: readonly Outcome[]) =>
    room.report({ gateway: 'stating', outcomes, cause: 'poll', queue: 'reports' })
  const reportPaid = async () => {
    const order = await payment(room)
    return { order, applied: await report(isPaid(order)) }
  }
  const onlyDeferred = async () => {
    const [row, ...others] = await deferredRows(room)
    assert.deepEqual(others, [])
    return row ?? assert.fail('no event is deferred')
  }

  describe('a report', () => {
    test('moves the payment, claims the event and runs the listeners, all at once', async () => {
      let seen: unknown
      room.on('PaymentSucceeded', async (event, { afterCommit }) => {
        assert.equal(await statusOf(room, event.payment), 'pending')
        afterCommit(async () => (seen = await statusOf(room, event.payment)))
      })
      const { order, applied } = await reportPaid()
      assert.equal(await room.afterCommits(), 0)
      assert.equal(seen, 'paid')
      assert.deepEqual(
        applied.map(({ kind, payment: of }) => [kind, of?.status]),
        [['claim', 'paid']],
      )
      const [event] = await events(room)
      assert.deepEqual(
        [event?.type, event?.source, event?.webhook_call_id, event?.payment_id],
        ['PaymentSucceeded', 'poll', null, order.id],
      )
      assert.deepEqual(await deferredRows(room), [])
      assert.deepEqual(room.woken, [])
      assert.deepEqual(lineOf(room, 'PaymentSucceeded'), {
        gateway: 'stating',
        superseded: false,
        payment: order.id,
        amount: '10000',
        currency: 'USD',
      })
      const { rows } = await room.database.pool.query(
        'select cause, webhook_call_id from billing.payment_transitions',
      )
      assert.deepEqual(rows, [{ cause: 'poll', webhook_call_id: null }])
    })

    test('repeated runs no listener', async () => {
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1))
      const { order } = await reportPaid()
      const [again] = await report(isPaid(order))
      assert.equal(again?.kind, 'claim')
      assert.equal(runs, 1)
      assert.deepEqual(logged(room), ['info PaymentSucceeded'])
    })

    test('leaves queued listeners to a worker, in its own queue', async () => {
      room.onQueued('PaymentSucceeded')
      await reportPaid()
      const [due = assert.fail()] = await deliveries(room)
      const { queue, listener, state, event_id } = due
      assert.deepEqual([queue, listener, state], ['reports', 'queued', 'pending'])
      assert.equal((await events(room))[0]?.id, event_id)
      assert.deepEqual(room.woken, ['workers'])
    })

    test('without a listener in the transaction costs no savepoint', async (t) => {
      room.onQueued('PaymentSucceeded')
      const sent = statements(t)
      await reportPaid()
      assert.deepEqual(
        sent.filter((text) => /savepoint/.test(text)),
        [],
      )
    })

    test('of nothing is nothing', async () => {
      assert.deepEqual(await report(), [])
      const [ignored] = await report({ type: 'ignored', reason: 'no_outcome' })
      assert.equal(ignored?.kind, 'ignored')
      assert.deepEqual(logged(room), ['info report ignored'])
      assert.deepEqual([await deferredRows(room), room.woken], [[], []])
    })
  })

  describe('a report whose listener throws', () => {
    const breaking = () =>
      room.on(
        'PaymentSucceeded',
        async (_event, { tx, afterCommit }) => {
          await tx.query(`insert into notes values (default, 'shop', 'heard')`)
          afterCommit(() => assert.fail('nothing of it is committed'))
          throw new Error('no stock, hush')
        },
        { name: 'shop' },
      )

    test('keeps the payment; its event is deferred, and a worker is woken', async () => {
      breaking()
      const { order, applied } = await reportPaid()
      assert.equal(await statusOf(room, order), 'paid')
      assert.equal(applied[0]?.payment?.status, 'paid')
      assert.deepEqual([await eventTypes(room), await notes(room)], [[], []])
      const row = await onlyDeferred()
      assert.deepEqual(
        [row.dedup_key, row.type, row.payment_id, row.payment_method_id, row.cause],
        [`payment:paid:${order.id}`, 'PaymentSucceeded', order.id, null, 'poll'],
      )
      assert.deepEqual(
        [row.queue, row.state, row.attempts, row.lease_token],
        ['reports', 'pending', 1, null],
      )
      assert.match(row.exception ?? '', /^in listener shop: Error: no stock, \[secret\]\n/)
      assertDueAfter(room, row.next_attempt_at, 10)
      assert.deepEqual(room.woken, ['workers'])
      assert.deepEqual(logged(room), ['warn a listener failed; its event is deferred'])
      const { err, ...line } = lineOf(room, 'a listener failed; its event is deferred')
      assert.match(JSON.stringify(err), /no stock/)
      assert.deepEqual(line, { listener: 'shop' })
    })

    test('is deferred without an attempt, and for less, where the server rolled it back in passing', async () => {
      room.on('PaymentSucceeded', (_event, { tx }) =>
        tx.query(`do $$ begin raise exception 'busy' using errcode = '40001'; end $$`),
      )
      const { order } = await reportPaid()
      assert.equal(await statusOf(room, order), 'paid')
      const { state, attempts, exception, queue, cause, next_attempt_at } = await onlyDeferred()
      assert.deepEqual(
        [state, attempts, exception, queue, cause],
        ['pending', 0, null, 'reports', 'poll'],
      )
      assertDueAfter(room, next_attempt_at, 0.2)
      assert.deepEqual(logged(room), ['warn a listener failed; its event is deferred'])
    })

    test('of a saved card defers the card’s event', async () => {
      room.on('PaymentMethodAttached', () => {
        throw new Error('closed')
      })
      const order = await payment(room)
      await report({
        type: 'payment_method',
        status: 'attached',
        reference: 'pm_1',
        payment: { id: order.id },
      })
      const row = await onlyDeferred()
      assert.equal(row.dedup_key, 'payment_method:attached:stating/pm_1')
      assert.deepEqual([row.type, row.payment_id], ['PaymentMethodAttached', order.id])
      assert.ok(row.payment_method_id)
    })

    test('repeated leaves the deferred event as it is', async () => {
      breaking()
      const { order } = await reportPaid()
      const before = await onlyDeferred()
      await report(isPaid(order))
      assert.deepEqual(await onlyDeferred(), before)
    })

    test('again defers one anew that had ended', async () => {
      breaking()
      const { order } = await reportPaid()
      const { id } = await onlyDeferred()
      await room.db
        .updateTable('billing.deferred_events')
        .set({ state: 'processed', attempts: 2, exception: 'old', processed_at: new Date() })
        .execute()
      await report(isPaid(order))
      const row = await onlyDeferred()
      assert.deepEqual(
        [row.id, row.state, row.attempts, row.processed_at],
        [id, 'pending', 1, null],
      )
      assert.match(row.exception ?? '', /no stock/)
      assertDueAfter(room, row.next_attempt_at, 10)
    })

    test('is made up for by the deferred event', async () => {
      const heard: string[] = []
      let broken = true
      room.on('PaymentSucceeded', (event) => {
        if (broken) throw new Error('closed')
        heard.push(event.payment.id)
      })
      const { order } = await reportPaid()
      broken = false
      await room.dispatch(await leaseDeferred(room, await onlyDeferred()))
      assert.deepEqual(heard, [order.id])
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
    })
  })

  describe('a report whose transaction is lost by a listener', () => {
    test('keeps the payment in a second one; nothing of the first is committed', async () => {
      const other = await payment(room)
      room.on('PaymentSucceeded', (_event, { tx }) => tx.client.query('select 1; commit'))
      const { order, applied } = await reportPaid()
      assert.equal(await statusOf(room, order), 'paid')
      assert.equal(applied[0]?.kind, 'claim')
      assert.deepEqual(await eventTypes(room), [])
      const row = await onlyDeferred()
      assert.match(row.exception ?? '', /^QuittanceError: a listener ended the transaction/)
      assert.deepEqual([row.attempts, row.queue, row.cause], [1, 'reports', 'poll'])
      assertDueAfter(room, row.next_attempt_at, 10)
      assert.deepEqual(room.woken, ['workers'])
      assert.deepEqual(Object.keys(lineOf(room, 'a listener failed; its event is deferred')), [
        'err',
      ])
      assert.equal(await statusOf(room, other), 'pending')
    })

    test('defers nothing where the payment has moved on by then', async () => {
      const order = await payment(room)
      room.on('PaymentFailed', async (_event, { tx }) => {
        await tx.client.query('select 1; rollback')
        await room.db.updateTable('billing.payments').set({ status: 'paid' }).execute()
      })
      const [applied] = await report({
        type: 'payment',
        payment: { id: order.id },
        status: 'failed',
      })
      assert.equal(applied?.kind, 'ignored')
      assert.deepEqual([await deferredRows(room), await eventTypes(room)], [[], []])
      assert.equal(await statusOf(room, order), 'paid')
    })

    test('and again, if a passing failure meets that one: no listener is skipped', async () => {
      room.give({ random: () => -1 })
      await fault(room, { table: 'deferred_events', on: 'insert', sqlState: '40P01', times: 1 })
      room.on('PaymentSucceeded', (_event, { tx }) => tx.client.query('select 1; commit'))
      await reportPaid()
      assert.deepEqual(await eventTypes(room), [])
      assert.equal((await onlyDeferred()).attempts, 1)
    })

    test('so it is where the listener takes too long', async () => {
      room.give({ listenersMayTakeMs: 60 })
      room.on('PaymentSucceeded', () => new Promise(() => {}))
      const { order } = await reportPaid()
      assert.equal(await statusOf(room, order), 'paid')
      assert.match((await onlyDeferred()).exception ?? '', /did not end within 0.06 s/)
    })
  })

  test('a report of a process that lacks a listener is kept; its event is left to others at once', async () => {
    await newcomer(room, 'PaymentFailed')
    room.on('PaymentSucceeded', () => assert.fail('it may not run here'))
    const { order } = await reportPaid()
    assert.equal(await statusOf(room, order), 'paid')
    assert.deepEqual(await eventTypes(room), [])
    const row = await onlyDeferred()
    assert.deepEqual(
      [row.attempts, row.exception, row.state, row.queue, row.cause],
      [0, null, 'pending', 'reports', 'poll'],
    )
    assertDueAfter(room, row.next_attempt_at, 0)
    assert.deepEqual(room.woken, ['workers'])
    const text = 'an event is left to a process with every listener'
    assert.deepEqual(logged(room), [`warn ${text}`])
    assert.match(JSON.stringify(lineOf(room, text)['err']), /lacks the listener/)
  })

  test('of reports together, one whose listeners must run alone is deferred with what it moved', async () => {
    // What the first listener leaves to the connection must not be met by the next.
    const { database } = room
    let begun = 0
    room.give({
      database: {
        ...database,
        // Where the process ends behind the commit, nothing else tells of the report.
        transaction: (work) =>
          (begun += 1) === 1 ? database.transaction(work) : Promise.reject(new Error('killed')),
      },
    })
    room.on(['PaymentSucceeded', 'PaymentFailed'], (_, { tx }) => tx.query("set local jit = 'off'"))
    const orders = [await payment(room), await payment(room)] as const
    const of = { gateway: 'stating', cause: 'poll', queue: 'reports' } as const
    const failed: Outcome = { type: 'payment', payment: { id: orders[1].id }, status: 'failed' }
    const ends = await room.reportTogether([
      { ...of, outcomes: [isPaid(orders[0])] },
      { ...of, outcomes: [failed] },
    ])
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    assert.equal(await statusOf(room, orders[1]), 'failed')
    assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
    const row = await onlyDeferred()
    assert.deepEqual([row.type, row.attempts, row.exception], ['PaymentFailed', 0, null])
    assertDueAfter(room, row.next_attempt_at, 0)
    assert.deepEqual(room.woken, ['workers'])
  })

  describe('a report that meets a failure of the database', () => {
    test('is made once more where that passes', async () => {
      room.give({ random: () => -1 })
      await fault(room, { table: 'payments', on: 'update', sqlState: '40P01', times: 2 })
      const { order } = await reportPaid()
      assert.equal(await statusOf(room, order), 'paid')
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
      assert.deepEqual(await deferredRows(room), [])
    })

    test('rejects where it does not pass, and has changed nothing', async () => {
      const order = await payment(room)
      await fault(room, { table: 'events', on: 'insert', sqlState: '22003' })
      await assert.rejects(report(isPaid(order)), /struck/)
      assert.equal(await statusOf(room, order), 'pending')
      assert.deepEqual(await deferredRows(room), [])
    })
  })
})
