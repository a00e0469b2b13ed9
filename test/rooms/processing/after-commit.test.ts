import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { onPostgres } from '../../support/databases.ts'
import { paid, refund } from '../../support/statements.ts'
import type { Statement } from '../../support/stating-gateway.ts'
import {
  call,
  callRow,
  fault,
  lineOf,
  logged,
  paying,
  payment,
  shortTimers,
  statements,
  statusOf,
  useRoom,
} from './room.ts'

/** What listeners ask to be done after the commit may take so long. */
const workMayTakeMs = 20_000

onPostgres(() => {
  const room = useRoom()
  const process = async (...stated: readonly Statement[]) => {
    const leased = await call(room, stated)
    await room.processOne(leased)
    return leased
  }

  describe('work that listeners ask for', () => {
    test('runs after the commit, in the order in which it was asked for, one after the other', async () => {
      const { order, leased } = await paying(room)
      const seen: string[] = []
      for (const name of ['one', 'two']) {
        room.on(
          'PaymentSucceeded',
          (_event, { afterCommit }) =>
            afterCommit(async () => {
              seen.push(`${name} ${await statusOf(room, order)}`)
              await turn()
              seen.push(`${name} ends`)
            }),
          { name },
        )
      }
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(await room.afterCommits(), 0)
      assert.deepEqual(seen, ['one paid', 'one ends', 'two paid', 'two ends'])
    })

    test('includes what the bound billing leaves for then', async () => {
      const { leased } = await paying(room)
      room.on('PaymentSucceeded', ({ payment: { id } }, { billing }) => billing.payments.get(id))
      room.on(
        'PaymentSucceeded',
        (_event, { billing }) =>
          billing.payments.create({
            gateway: 'stating',
            amount: 1,
            currency: 'USD',
            payable: { type: 'order', id: '1' },
          }),
        { name: 'creating' },
      )
      await room.processOne(leased)
      await room.afterCommits()
      assert.deepEqual(room.woken, ['created'])
    })

    test('does not hold up the call', async () => {
      const { leased } = await paying(room)
      const gate = Promise.withResolvers<void>()
      room.on('PaymentSucceeded', (_event, { afterCommit }) => afterCommit(() => gate.promise))
      assert.equal(await room.processOne(leased), 'done')
      gate.resolve()
      await room.afterCommits()
      assert.deepEqual(logged(room), ['info PaymentSucceeded'])
    })

    test('that fails is logged, and the next runs; nothing is undone', async () => {
      const { leased } = await paying(room)
      let ran = false
      room.on('PaymentSucceeded', (_event, { afterCommit }) => {
        afterCommit(() => {
          throw new Error('mail server away')
        })
        afterCommit(() => void (ran = true))
      })
      assert.equal(await room.processOne(leased), 'done')
      await room.afterCommits()
      assert.equal(ran, true)
      const { err, ...line } = lineOf(room, 'work after the commit failed')
      assert.match(JSON.stringify(err), /mail server away/)
      assert.deepEqual(line, { call: leased.id })
      assert.equal(logged(room).at(-1), 'error work after the commit failed')
      assert.equal((await callRow(room, leased)).state, 'processed')
    })

    test('that hangs is given up after 20 s, and the next runs', async (t) => {
      const { leased } = await paying(room)
      let ran = false
      room.on('PaymentSucceeded', (_event, { afterCommit }) => {
        afterCommit(() => new Promise(() => {}))
        afterCommit(() => void (ran = true))
      })
      shortTimers(t, workMayTakeMs)
      await room.processOne(leased)
      await room.afterCommits()
      assert.equal(ran, true)
      const { err } = lineOf(room, 'work after the commit failed')
      assert.match(JSON.stringify(err), /work after the commit took over 20 s/)
    })

    test('never runs where there was no commit', async () => {
      const { leased } = await paying(room)
      let ran = false
      room.on('PaymentSucceeded', (_event, { afterCommit }) => {
        afterCommit(() => void (ran = true))
        throw new Error('no stock')
      })
      assert.equal(await room.processOne(leased), 'failed')
      await room.afterCommits()
      assert.equal(ran, false)
    })
  })

  describe('a call that waits for a payment', () => {
    const waitingFor = (id: string): Statement => ({
      type: 'payment',
      payment: { id },
      status: 'paid',
      amount: 10_000n,
      currency: 'USD',
    })
    const soon = '01980000-0000-7000-8000-000000000002'
    /** The payment is created between the look and the commit. */
    const inBetween = () =>
      room.on('PaymentSucceeded', () => payment(room, { id: soon }), { name: 'between' })

    test('goes on at once where the payment came before its commit', async () => {
      const { order } = await paying(room)
      inBetween()
      const leased = await call(room, [waitingFor(soon), paid(order)])
      assert.equal(await room.processOne(leased), 'done')
      const { state, awaiting } = await callRow(room, leased)
      assert.deepEqual([state, awaiting], ['pending', null])
      assert.deepEqual(room.woken, ['workers'])
    })

    test('waits where the payment is not there', async () => {
      const leased = await process(waitingFor(soon))
      assert.equal((await callRow(room, leased)).state, 'ignored')
      assert.deepEqual(room.woken, [])
      assert.deepEqual(logged(room), ['info callback ignored'])
    })

    test('is left to the sweeper where nobody can look', async () => {
      const { order } = await paying(room)
      inBetween()
      await fault(room, {
        table: 'webhook_calls',
        on: 'update',
        state: 'pending',
        sqlState: '22003',
      })
      const leased = await call(room, [waitingFor(soon), paid(order)])
      // Leasing it was an update of its own; what is struck is to come back.
      assert.equal(await room.processOne(leased), 'done')
      assert.equal((await callRow(room, leased)).state, 'processed')
      const { err, ...line } = lineOf(room, 'could not look again; the sweeper will')
      assert.match(JSON.stringify(err), /struck/)
      assert.deepEqual(line, { call: leased.id })
      assert.equal(logged(room).at(-1), 'warn could not look again; the sweeper will')
      assert.deepEqual(room.woken, [])
    })

    test('only such a call is looked at again', async (t) => {
      const sent = statements(t)
      const { order } = await paying(room)
      await process(paid(order), { type: 'ignored', reason: 'unhandled_event' })
      const looks = () =>
        sent.filter((text) => /where id = .* and awaiting is not null/s.test(text)).length
      assert.equal(looks(), 0)
      await process(waitingFor(soon))
      assert.equal(looks(), 1)
    })
  })

  describe('the log says', () => {
    test('what was ignored, and why', async () => {
      const leased = await process({ type: 'ignored', reason: 'unhandled_event', detail: 'ping' })
      assert.deepEqual(logged(room), ['info callback ignored'])
      assert.deepEqual(lineOf(room, 'callback ignored'), {
        call: leased.id,
        gateway: 'stating',
        reason: 'unhandled_event',
        detail: 'ping',
      })
    })

    test('that other money was paid than asked for', async () => {
      const { order } = await paying(room)
      const leased = await process({ ...paid(order), amount: 1n })
      assert.deepEqual(logged(room), ['warn paid webhook amount/currency mismatch'])
      assert.deepEqual(lineOf(room, 'paid webhook amount/currency mismatch'), {
        call: leased.id,
        gateway: 'stating',
        payment: order.id,
        reason: 'amount_mismatch',
      })
    })

    test('that a person should look at what was ignored', async () => {
      const { order } = await paying(room)
      await process({ ...paid(order), merchantAccount: 'another' })
      assert.deepEqual(logged(room), ['warn callback ignored; it needs a review'])
    })

    test('that a payment which is paid was said to be something else', async () => {
      const { order } = await paying(room)
      await process(paid(order))
      await process({ type: 'payment', payment: { id: order.id }, status: 'failed' })
      assert.deepEqual(logged(room), ['info PaymentSucceeded', 'warn callback ignored'])
      assert.equal(lineOf(room, 'callback ignored')['reason'], 'already_paid')
    })

    test('that a person should look at an event', async () => {
      const { order } = await paying(room)
      await process(paid(order))
      const leased = await process(refund(order, 're_1', { amount: 10_001n }))
      assert.deepEqual(logged(room), [
        'info PaymentSucceeded',
        'warn refund:paid needs a review',
        'info PaymentRefunded',
      ])
      const { detail, ...line } = lineOf(room, 'refund:paid needs a review')
      assert.deepEqual(line, { call: leased.id, gateway: 'stating', payment: order.id })
      assert.ok(detail)
    })

    test('that a person should look at what has no event', async () => {
      const { order } = await paying(room)
      await process(paid(order))
      await process(refund(order, 're_1'))
      const leased = await process(refund(order, 're_1', { status: 'failed' }))
      assert.equal(logged(room).at(-1), 'warn refund:failed needs a review')
      assert.deepEqual(lineOf(room, 'refund:failed needs a review'), {
        call: leased.id,
        gateway: 'stating',
        payment: order.id,
        detail: 'refund_returned',
      })
    })

    test('which card was saved', async () => {
      const leased = await process({
        type: 'payment_method',
        status: 'attached',
        reference: 'pm_1',
      })
      const { paymentMethod, ...line } = lineOf(room, 'PaymentMethodAttached')
      assert.deepEqual(line, { call: leased.id, gateway: 'stating' })
      assert.match(String(paymentMethod), /^[0-9a-f-]{36}$/)
    })
  })
})
