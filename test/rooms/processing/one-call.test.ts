import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onPostgres } from '../../support/databases.ts'
import { paid, refund } from '../../support/statements.ts'
import type { Statement } from '../../support/stating-gateway.ts'
import {
  assertDueAfter,
  call,
  callRow,
  events,
  eventTypes,
  fault,
  leaseCall,
  lineOf,
  logged,
  newcomer,
  notes,
  outcomeOf,
  paying,
  payment,
  statements,
  statusOf,
  stealLease,
  useRoom,
} from './room.ts'

const lostLine = 'warn lease lost while processing; another worker has the call, or it has ended'
const returnedLine = 'warn passing database failure, will try again'

onPostgres(() => {
  const room = useRoom()

  const declined = (id: string): Statement => ({
    type: 'payment',
    payment: { id },
    status: 'failed',
  })
  /** Another attempt of the same call, as its row stands now. */
  const again = async (leased: { readonly id: string }) =>
    room.processOne(await leaseCall(room, leased))

  describe('a call that is done', () => {
    test('has moved its payment, claimed its event and run its listeners, all at once', async () => {
      const { order, leased } = await paying(room, {
        exception: 'of an earlier attempt',
        attempts: 1,
      })
      const heard: unknown[] = []
      room.on('PaymentSucceeded', async (event, { tx }) => {
        const { rows } = await tx.query('select status from billing.payments')
        heard.push(event.payment.status, rows[0]?.['status'], await statusOf(room, order))
      })
      assert.equal(await room.processOne(leased), 'done')
      assert.deepEqual(heard, ['paid', 'paid', 'pending'])
      const row = await callRow(room, leased)
      const { state, exception, lease_token, lease_until, payment_id, needs_review } = row
      assert.deepEqual(
        { state, exception, lease_token, lease_until, payment_id, needs_review },
        {
          state: 'processed',
          exception: null,
          lease_token: null,
          lease_until: null,
          payment_id: order.id,
          needs_review: false,
        },
      )
      assert.ok(row.processed_at)
      assert.deepEqual(await outcomeOf(room, leased), [{ result: 'applied', type: 'payment:paid' }])
      const [event] = await events(room)
      assert.deepEqual(
        [event?.dedup_key, event?.webhook_call_id, event?.source, event?.superseded],
        [`payment:paid:${order.id}`, leased.id, 'call', false],
      )
      assert.deepEqual(lineOf(room, 'PaymentSucceeded'), {
        call: leased.id,
        gateway: 'stating',
        superseded: false,
        payment: order.id,
        amount: '10000',
        currency: 'USD',
      })
      assert.deepEqual(room.woken, [])
    })

    test('keeps the keys of what it has claimed, now and before; a duplicate claims nothing', async () => {
      const { order, leased } = await paying(room, { dedup_claims: '["of an earlier run"]' })
      await room.processOne(leased)
      const claims = async (row: { readonly id: string }) => (await callRow(room, row)).dedup_claims
      const claimed = `["of an earlier run", "payment:paid:${order.id}"]`
      assert.equal(await claims(leased), claimed)
      const second = await call(room, [paid(order)])
      await room.processOne(second)
      assert.equal(await claims(second), '[]')
    })

    test('is a duplicate where its event was claimed before, and runs no listener', async () => {
      const { order, leased } = await paying(room)
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1))
      await room.processOne(leased)
      const second = await call(room, [paid(order)])
      assert.equal(await room.processOne(second), 'done')
      assert.equal(runs, 1)
      assert.equal((await callRow(room, second)).state, 'processed')
      assert.deepEqual(await outcomeOf(room, second), [
        { result: 'duplicate', type: 'payment:paid' },
      ])
      assert.deepEqual(logged(room), ['info PaymentSucceeded'])
      assert.equal((await events(room))[0]?.webhook_call_id, leased.id)
    })

    test('is ignored where all that it says is ignored, and else processed', async () => {
      const order = await payment(room)
      const nothing = await call(room, [{ type: 'ignored', reason: 'unhandled_event' }])
      const both = await call(room, [{ type: 'ignored', reason: 'unhandled_event' }, paid(order)])
      assert.equal(await room.processOne(nothing), 'done')
      assert.equal(await room.processOne(both), 'done')
      assert.equal((await callRow(room, nothing)).state, 'ignored')
      assert.equal((await callRow(room, nothing)).payment_id, null)
      const row = await callRow(room, both)
      assert.deepEqual([row.state, row.payment_id], ['processed', order.id])
      assert.deepEqual(await outcomeOf(room, both), [
        { result: 'ignored', type: 'callback', reason: 'unhandled_event' },
        { result: 'applied', type: 'payment:paid' },
      ])
    })

    test('keeps both names of a payment that is not there, each once', async () => {
      const id = '01980000-0000-7000-8000-000000000001'
      const unknown: Statement = {
        type: 'payment',
        payment: { providerReference: 'ch_1' },
        claimed: { id, by: 'payer' },
        status: 'paid',
        amount: 1n,
        currency: 'USD',
      }
      const one = await call(room, [unknown, unknown])
      const other = await call(room, [{ ...unknown, claimed: undefined }])
      await room.processOne(one)
      await room.processOne(other)
      const names = async (of: typeof one) => {
        const { state, awaiting, awaiting_also } = await callRow(room, of)
        return [state, awaiting, awaiting_also]
      }
      assert.deepEqual(await names(one), ['ignored', 'provider:stating/ch_1', `id:${id}`])
      assert.deepEqual(await names(other), ['ignored', 'provider:stating/ch_1', null])
    })

    test('is marked for a person where what it says needs one', async () => {
      const order = await payment(room)
      const leased = await call(room, [{ ...paid(order), amount: 1n }])
      await room.processOne(leased)
      const { state, needs_review, payment_id } = await callRow(room, leased)
      assert.deepEqual([state, needs_review, payment_id], ['ignored', true, order.id])
    })

    test('says that a decline which was paid before its retry came too late', async () => {
      const order = await payment(room)
      let broken = true
      room.on('PaymentFailed', () => {
        if (broken) throw new Error('closed')
      })
      const superseded: boolean[] = []
      room.on('PaymentFailed', (event) => void superseded.push(event.superseded), {
        name: 'ledger',
        superseded: true,
      })
      const late = await call(room, [declined(order.id)])
      assert.equal(await room.processOne(late), 'failed')
      broken = false
      await room.processOne(await call(room, [paid(order)]))
      assert.equal(await again(late), 'done')
      assert.deepEqual(await outcomeOf(room, late), [
        { result: 'applied', type: 'payment:failed', detail: 'superseded' },
      ])
      assert.deepEqual(superseded, [true])
      // Told once: the next one is a duplicate as any other.
      await room.replay(late.id)
      assert.equal(await again(late), 'done')
      assert.deepEqual(await outcomeOf(room, late), [
        { result: 'duplicate', type: 'payment:failed' },
      ])
    })

    test('wakes the deliveries where a queued listener is due, and only there', async () => {
      const { leased } = await paying(room)
      room.onQueued('PaymentFailed')
      await room.processOne(leased)
      assert.deepEqual(room.woken, [])
      room.onQueued('PaymentSucceeded', () => {}, { name: 'mailing' })
      const { leased: next } = await paying(room, { queue: 'mine' })
      await room.processOne(next)
      assert.deepEqual(room.woken, ['workers'])
    })

    test('of a refund it is filed under the charge', async () => {
      const { order, leased } = await paying(room)
      await room.processOne(leased)
      const refunded = await call(room, [refund(order, 're_1')])
      assert.equal(await room.processOne(refunded), 'done')
      assert.equal((await callRow(room, refunded)).payment_id, order.id)
      assert.deepEqual(await eventTypes(room), ['PaymentSucceeded', 'PaymentRefunded'])
    })
  })

  describe('a call whose listener throws', () => {
    test('keeps the payment, and nothing of the event; the next attempt follows after 10 s, then 60 s, then none', async () => {
      const { order, leased } = await paying(room)
      let runs = 0
      room.on(
        'PaymentSucceeded',
        async (_event, { tx }) => {
          await tx.query(`insert into notes values (default, 'shop', 'heard')`)
          runs += 1
          throw new Error('no stock, hush')
        },
        { name: 'shop' },
      )
      assert.equal(await room.processOne(leased), 'failed')
      const first = await callRow(room, leased)
      assert.deepEqual(
        [first.state, first.attempts, first.lease_token, first.payment_id, first.needs_review],
        ['pending', 1, null, order.id, false],
      )
      assert.match(first.exception ?? '', /^in listener shop: Error: no stock, \[secret\]\n\s+at /)
      assertDueAfter(room, first.next_attempt_at, 10)
      assert.equal(await statusOf(room, order), 'paid')
      assert.deepEqual([await eventTypes(room), await notes(room)], [[], []])
      const { err, ...line } = lineOf(room, 'attempt failed, will be retried')
      assert.match(JSON.stringify(err), /no stock/)
      const of = { call: leased.id, gateway: 'stating', listener: 'shop' }
      assert.deepEqual(line, { ...of, attempt: 1, retryInSeconds: 10 })
      assert.deepEqual(room.woken, [])

      assert.equal(await again(leased), 'failed')
      const second = await callRow(room, leased)
      assert.deepEqual([second.state, second.attempts], ['pending', 2])
      assertDueAfter(room, second.next_attempt_at, 60)

      assert.equal(await again(leased), 'failed')
      const third = await callRow(room, leased)
      assert.deepEqual(
        [third.state, third.attempts, third.needs_review, third.lease_token],
        ['failed', 3, true, null],
      )
      assert.ok(third.processed_at)
      const { err: _err, ...last } = lineOf(room, 'call failed: no attempts left')
      assert.deepEqual(last, { ...of, attempt: 3 })
      assert.equal(runs, 3)
      assert.deepEqual(logged(room), [
        'warn attempt failed, will be retried',
        'warn attempt failed, will be retried',
        'error call failed: no attempts left',
      ])
    })

    test('is marked where what it says needs a person, whatever becomes of its event', async () => {
      const order = await payment(room)
      const other = await payment(room)
      room.on('PaymentSucceeded', () => {
        throw new Error('closed')
      })
      const leased = await call(room, [{ ...paid(other), amount: 1n }, paid(order)])
      assert.equal(await room.processOne(leased), 'failed')
      const { needs_review, state, payment_id } = await callRow(room, leased)
      assert.deepEqual([needs_review, state, payment_id], [true, 'pending', other.id])
    })

    test('stays marked for what it recorded, where its retry says that no more', async () => {
      const order = await payment(room, { gateway: 'asking' })
      let isClosed = true
      room.on('PaymentSucceeded', () => {
        if (isClosed) throw new Error('closed')
      })
      const { id, amount, currency } = order
      const settled = {
        type: 'payment',
        payment: { id },
        status: 'paid',
        amount,
        currency,
      } as const
      const lost = { type: 'dispute', payment: { id }, reference: 'dp_1', status: 'lost' } as const
      const { id: callId } = await call(room, [], { gateway: 'asking' })
      room.interpret = async () => [settled, lost]
      assert.equal(await room.processOne(await leaseCall(room, { id: callId })), 'failed')
      isClosed = false
      room.interpret = async () => [settled]
      assert.equal(await room.processOne(await leaseCall(room, { id: callId })), 'done')
      const { needs_review, state } = await callRow(room, { id: callId })
      assert.deepEqual([needs_review, state], [true, 'processed'])
    })

    test('goes back without an attempt where the server rolled the listener back in passing', async () => {
      const { order, leased } = await paying(room, { times_returned: 2 })
      room.on('PaymentSucceeded', (_event, { tx }) =>
        tx.query(`do $$ begin raise exception 'busy' using errcode = '40001'; end $$`),
      )
      assert.equal(await room.processOne(leased), 'returned')
      const row = await callRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.lease_token, row.exception],
        ['pending', 0, 3, null, null],
      )
      assertDueAfter(room, row.next_attempt_at, 0.8)
      assert.equal(await statusOf(room, order), 'paid')
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), [returnedLine])
      const { err, ...line } = lineOf(room, returnedLine.slice(5))
      assert.match(JSON.stringify(err), /busy/)
      assert.deepEqual(line, { table: 'billing.webhook_calls', id: leased.id })
    })

    test('has had its attempt where that went on for too long', async () => {
      const { leased } = await paying(room, { times_returned: 20 })
      room.on('PaymentSucceeded', (_event, { tx }) =>
        tx.query(`do $$ begin raise exception 'busy' using errcode = '40001'; end $$`),
      )
      assert.equal(await room.processOne(leased), 'failed')
      const row = await callRow(room, leased)
      assert.deepEqual([row.attempts, row.times_returned], [1, 20])
      assert.match(row.exception ?? '', /^in listener listener: error: busy/)
    })

    test('has had its attempt where the server refused what it wrote', async () => {
      const { leased } = await paying(room)
      room.on('PaymentSucceeded', (_event, { tx }) => tx.query('select 1/0'))
      assert.equal(await room.processOne(leased), 'failed')
      const { attempts, exception } = await callRow(room, leased)
      assert.equal(attempts, 1)
      assert.match(exception ?? '', /^in listener listener: error: division by zero/)
    })

    test('stays filed under the payment that an earlier attempt knew', async () => {
      const order = await payment(room)
      const leased = await call(room, [], { gateway: 'gone', payment_id: order.id })
      assert.equal(await room.processOne(leased), 'failed')
      assert.equal((await callRow(room, leased)).payment_id, order.id)
    })

    test('is about no payment where it is of a saved card alone', async () => {
      room.on('PaymentMethodAttached', () => {
        throw new Error('closed')
      })
      const attached = { type: 'payment_method', status: 'attached', reference: 'pm_1' } as const
      const leased = await call(room, [attached])
      assert.equal(await room.processOne(leased), 'failed')
      const { attempts, payment_id } = await callRow(room, leased)
      assert.deepEqual([attempts, payment_id], [1, null])
    })

    test('has had its attempt where a connection of the listener’s own failed', async () => {
      const { leased } = await paying(room)
      room.on('PaymentSucceeded', () => {
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      })
      assert.equal(await room.processOne(leased), 'failed')
      assert.equal((await callRow(room, leased)).attempts, 1)
    })
  })

  describe('a call that another worker has taken over', () => {
    const untouched = async (leased: Awaited<ReturnType<typeof call>>) => {
      const { state, attempts, times_returned, exception, outcome } = await callRow(room, leased)
      assert.deepEqual(
        { state, attempts, times_returned, exception, outcome },
        { state: 'processing', attempts: 0, times_returned: 0, exception: null, outcome: null },
      )
    }

    test('is lost: nothing of it is committed, and nothing more is tried', async (t) => {
      const { order, leased } = await paying(room)
      room.on('PaymentSucceeded', (_event, { afterCommit }) =>
        afterCommit(() => assert.fail('there is no commit')),
      )
      await stealLease(room, 'webhook_calls', leased)
      const sent = statements(t)
      assert.equal(await room.processOne(leased), 'lost')
      assert.equal(sent.at(-1), 'rollback')
      assert.equal(sent.filter((text) => text.startsWith('begin')).length, 1)
      await untouched(leased)
      assert.equal(await statusOf(room, order), 'pending')
      assert.deepEqual(await eventTypes(room), [])
      assert.deepEqual(logged(room), [lostLine])
      assert.equal(lineOf(room, lostLine.slice(5))['call'], leased.id)
    })

    test('is lost while its listeners run, whatever they do then', async () => {
      const endings = {
        throws: () => {
          throw new Error('no stock')
        },
        'meets a deadlock': () => {
          throw Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' })
        },
        returns: () => {},
      }
      let end = () => {}
      let leased: Awaited<ReturnType<typeof call>>
      room.on('PaymentSucceeded', async () => {
        await stealLease(room, 'webhook_calls', leased)
        end()
      })
      for (const [what, ending] of Object.entries(endings)) {
        const made = await paying(room)
        leased = made.leased
        end = ending
        assert.equal(await room.processOne(leased), 'lost', what)
        await untouched(leased)
        assert.equal(await statusOf(room, made.order), 'pending', what)
      }
      assert.deepEqual(logged(room), [lostLine, lostLine, lostLine])
    })

    test('is lost where it could not even be interpreted', async () => {
      const leased = await call(room, [], { gateway: 'gone' })
      await stealLease(room, 'webhook_calls', leased)
      assert.equal(await room.processOne(leased), 'lost')
      await untouched(leased)
      assert.deepEqual(logged(room), [lostLine])
    })

    test('is lost where the database fails in passing as well', async () => {
      const { leased } = await paying(room)
      await fault(room, { table: 'payments', on: 'update', sqlState: '40001' })
      await stealLease(room, 'webhook_calls', leased)
      assert.equal(await room.processOne(leased), 'lost')
      await untouched(leased)
      assert.deepEqual(logged(room), [returnedLine, lostLine])
    })
  })

  describe('a call that meets a failure of the database', () => {
    test('goes back without an attempt where it passes; nothing is applied', async () => {
      const { order, leased } = await paying(room, { times_returned: 1 })
      await fault(room, { table: 'payments', on: 'update', sqlState: '40001' })
      assert.equal(await room.processOne(leased), 'returned')
      const row = await callRow(room, leased)
      assert.deepEqual(
        [row.state, row.attempts, row.times_returned, row.lease_token],
        ['pending', 0, 2, null],
      )
      assertDueAfter(room, row.next_attempt_at, 0.4)
      assert.equal(await statusOf(room, order), 'pending')
      assert.deepEqual(logged(room), [returnedLine])
      const { err, ...line } = lineOf(room, returnedLine.slice(5))
      assert.match(JSON.stringify(err), /struck/)
      assert.deepEqual(line, { table: 'billing.webhook_calls', id: leased.id })
    })

    test('has had its attempt where it does not pass', async () => {
      const { order, leased } = await paying(room)
      await fault(room, { table: 'payments', on: 'update', sqlState: '22003' })
      assert.equal(await room.processOne(leased), 'failed')
      const row = await callRow(room, leased)
      assert.deepEqual([row.state, row.attempts, row.payment_id], ['pending', 1, null])
      assert.match(row.exception ?? '', /^error: struck/)
      assert.equal(await statusOf(room, order), 'pending')
      assert.deepEqual(logged(room), ['warn attempt failed, will be retried'])
    })

    test('is left to run out where not even that can be written', async () => {
      const { leased } = await paying(room)
      await fault(room, { table: 'webhook_calls', on: 'update', sqlState: 'P0001' })
      assert.equal(await room.processOne(leased), 'lost')
      assert.equal((await callRow(room, leased)).state, 'processing')
      assert.deepEqual(logged(room).slice(-1), ['error lease left to run out'])
    })
  })

  test('where this process lacks a listener, the call is left to one that has all of them', async () => {
    const { order, leased } = await paying(room, { times_returned: 4 })
    await newcomer(room, 'PaymentRefunded', 'PaymentFailed')
    assert.equal(await room.processOne(leased), 'returned')
    const row = await callRow(room, leased)
    assert.deepEqual(
      [
        row.state,
        row.attempts,
        row.times_returned,
        row.leases_lost,
        row.lease_token,
        row.exception,
      ],
      ['pending', 0, 4, 0, null, null],
    )
    assert.deepEqual([await statusOf(room, order), await eventTypes(room)], ['pending', []])
    assert.deepEqual(logged(room), ['warn left to a process with every listener'])
    const { err, ...line } = lineOf(room, 'left to a process with every listener')
    assert.match(
      JSON.stringify(err),
      /lacks the listener\(s\) newcomer \(PaymentFailed\), newcomer \(PaymentRefunded\): events/,
    )
    assert.deepEqual(line, { table: 'billing.webhook_calls', rows: 1 })
  })

  test('where it claims nothing, it needs no listener', async () => {
    const leased = await call(room, [{ type: 'ignored', reason: 'unhandled_event' }])
    await newcomer(room, 'PaymentSucceeded')
    assert.equal(await room.processOne(leased), 'done')
  })
})
