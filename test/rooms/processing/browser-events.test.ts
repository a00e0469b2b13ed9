import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pendingPayment } from '../../support/pending-payment.ts'
import { onPostgres } from '../../support/databases.ts'
import {
  deliveries,
  events,
  eventTypes,
  fault,
  lineOf,
  logged,
  newcomer,
  payment,
  statements,
  useRoom,
} from './room.ts'

onPostgres(() => {
  const room = useRoom()

  describe('what a payer’s browser did', () => {
    test('is an event, once a payment, however often it comes', async () => {
      const order = await payment(room)
      const seen: unknown[] = []
      room.on('CheckoutReturned', (event, { afterCommit }) => {
        afterCommit(() => void seen.push(event.payment.id, event.superseded))
      })
      assert.equal(await room.browserEvent('CheckoutReturned', order), true)
      assert.equal(await room.browserEvent('CheckoutReturned', order), true)
      await room.afterCommits()
      assert.deepEqual(seen, [order.id, false])
      assert.deepEqual(logged(room), ['info CheckoutReturned'])
      const all = await events(room)
      assert.deepEqual(
        all.map((event) => [
          event.dedup_key,
          event.source,
          event.webhook_call_id,
          event.payment_id,
        ]),
        [[`checkout:returned:${order.id}`, 'browser', null, order.id]],
      )
      assert.deepEqual(lineOf(room, 'CheckoutReturned'), {
        gateway: 'stating',
        payment: order.id,
        amount: '10000',
        currency: 'USD',
      })
      assert.deepEqual(room.woken, [])
    })

    test('costs no transaction once its event is there', async (t) => {
      const order = await payment(room)
      const sent = statements(t)
      await room.browserEvent('CheckoutReturned', order)
      assert.ok(sent.some((text) => text.startsWith('begin')))
      const before = sent.length
      await room.browserEvent('CheckoutReturned', order)
      assert.deepEqual(
        sent.slice(before).filter((text) => !text.startsWith('select')),
        [],
      )
    })

    test('of another kind, or at another payment, is another event', async () => {
      const [one, other] = [await payment(room), await payment(room)]
      assert.equal(await room.browserEvent('CheckoutReturned', one), true)
      assert.equal(await room.browserEvent('PaymentLinkOpened', one), true)
      assert.equal(await room.browserEvent('CheckoutReturned', other), true)
      assert.deepEqual(await eventTypes(room), [
        'CheckoutReturned',
        'PaymentLinkOpened',
        'CheckoutReturned',
      ])
    })

    test('carries the payment as it stands', async () => {
      const order = await payment(room)
      await room.db.updateTable('billing.payments').set({ status: 'paid' }).execute()
      let status: string | undefined
      room.on('CheckoutReturned', (event) => void (status = event.payment.status))
      await room.browserEvent('CheckoutReturned', order)
      assert.equal(status, 'paid')
    })

    test('at two windows at the same time is one event', async () => {
      const order = await payment(room)
      let runs = 0
      room.on('CheckoutReturned', () => void (runs += 1))
      const visits = [1, 2, 3].map(() => room.browserEvent('CheckoutReturned', order))
      assert.deepEqual(await Promise.all(visits), [true, true, true])
      assert.equal(runs, 1)
    })

    test('has deliveries to queued listeners, in the queue of its process', async () => {
      room.onQueued('CheckoutReturned')
      await room.browserEvent('CheckoutReturned', await payment(room))
      assert.deepEqual(
        (await deliveries(room)).map(({ queue, listener }) => [queue, listener]),
        [['browsing', 'queued']],
      )
      assert.deepEqual(room.woken, ['workers'])
    })

    test('at a payment that is not there is nothing', async () => {
      const gone = pendingPayment({ gateway: 'stating' })
      assert.equal(await room.browserEvent('CheckoutReturned', gone), true)
      assert.deepEqual([await eventTypes(room), logged(room)], [[], []])
    })
  })

  describe('what a payer’s browser did comes to nothing', () => {
    const isRefused = async (reason: RegExp) => {
      const order = await payment(room)
      assert.equal(await room.browserEvent('CheckoutReturned', order), false)
      assert.deepEqual([await eventTypes(room), await deliveries(room)], [[], []])
      assert.equal(room.lines.length, 1)
      const [line] = room.lines
      assert.deepEqual([line?.['level'], line?.['payment']], [40, order.id])
      assert.match(String(line?.['msg']), /^CheckoutReturned /)
      assert.match(JSON.stringify(line?.['err']), reason)
      return order
    }

    test('where a listener throws; a later visit may try again', async () => {
      let broken = true
      room.on('CheckoutReturned', () => {
        if (broken) throw new Error('closed')
      })
      const order = await isRefused(/closed/)
      broken = false
      assert.equal(await room.browserEvent('CheckoutReturned', order), true)
      assert.deepEqual(await eventTypes(room), ['CheckoutReturned'])
    })

    test('where a listener rolls the transaction back', async () => {
      room.on('CheckoutReturned', (_event, { tx }) => tx.client.query('select 1; rollback'))
      await isRefused(/a listener ended the transaction/)
    })

    test('where a listener commits the transaction; a later visit runs every listener', async () => {
      const heard: string[] = []
      let broken = true
      room.on(
        'CheckoutReturned',
        async (_event, { tx }) => {
          heard.push('first')
          if (broken) await tx.client.query('select 1; commit')
        },
        { name: 'first' },
      )
      room.on('CheckoutReturned', () => void heard.push('second'), { name: 'second' })
      const order = await isRefused(/a listener ended the transaction/)
      broken = false
      assert.equal(await room.browserEvent('CheckoutReturned', order), true)
      assert.deepEqual(heard, ['first', 'first', 'second'])
    })

    test('where this process lacks a listener', async () => {
      await newcomer(room, 'PaymentFailed')
      await isRefused(/lacks the listener/)
    })

    test('where the database fails', async () => {
      await fault(room, { table: 'events', on: 'insert', sqlState: '22003' })
      await isRefused(/struck/)
    })
  })
})
