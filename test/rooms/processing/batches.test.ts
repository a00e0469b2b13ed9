import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import type { Payment } from '../../../src/payments/payment.ts'
import type { LeasedCall } from '../../../src/queue/calls.ts'
import { onPostgres } from '../../support/databases.ts'
import { handTimers } from '../../support/hand-timers.ts'
import { paid } from '../../support/statements.ts'
import {
  call,
  callRow,
  events,
  eventTypes,
  fault,
  lineOf,
  logged,
  newcomer,
  notes,
  payment,
  statements,
  statusOf,
  stealLease,
  useRoom,
} from './room.ts'

onPostgres(() => {
  const room = useRoom()
  // Calls share a transaction for half a second: of a clock that stands until a test moves it.
  let passed = 0
  beforeEach(() => {
    const begun = performance.now()
    passed = 0
    mock.method(performance, 'now', () => begun + passed)
  })
  afterEach(() => mock.restoreAll())

  interface Made {
    readonly orders: readonly Payment[]
    readonly calls: readonly LeasedCall[]
  }
  /** Calls that pay one order each; the orders are named by their place, from 0 on. */
  const paying = async (count: number): Promise<Made> => {
    const orders: Payment[] = []
    const calls: LeasedCall[] = []
    for (let place = 0; place < count; place += 1) {
      const order = await payment(room, { payable_id: `${place}` })
      orders.push(order)
      calls.push(await call(room, [paid(order)]))
    }
    return { orders, calls }
  }
  const declining = async () => {
    const order = await payment(room)
    return call(room, [{ type: 'payment', payment: { id: order.id }, status: 'failed' }])
  }
  const states = async (calls: readonly LeasedCall[]) => {
    const rows = await Promise.all(calls.map((one) => callRow(room, one)))
    return rows.map(({ state, attempts }) => `${state} ${attempts}`)
  }
  const statuses = (orders: readonly Payment[]) =>
    Promise.all(orders.map((order) => statusOf(room, order)))
  /** Notes what it hears in its transaction, and does something of its own at one order. */
  const listen = (place: string, doing: (tx: Tx) => unknown = () => {}) =>
    room.on(
      'PaymentSucceeded',
      async ({ payment: { payable } }, { tx }) => {
        await tx.query(`insert into notes (author, about) values ('heard', $1)`, [payable.id])
        if (payable.id === place) await doing(tx)
      },
      { name: 'listener' },
    )
  type Tx = { query(text: string): Promise<unknown>; client: { query(text: string): unknown } }

  test('is one transaction: all end in it, their listeners run in the order of the calls', async (t) => {
    const { orders, calls } = await paying(3)
    listen('none')
    const sent = statements(t)
    assert.deepEqual(await room.processBatch(calls), ['done', 'done', 'done'])
    assert.equal(sent.filter((text) => text === 'commit').length, 1)
    // However many calls: each renews the savepoint of the one before it.
    assert.equal(sent.filter((text) => text.startsWith('savepoint')).length, 1)
    assert.deepEqual(await notes(room), ['heard 0', 'heard 1', 'heard 2'])
    assert.deepEqual(await statuses(orders), ['paid', 'paid', 'paid'])
    assert.deepEqual(await states(calls), ['processed 0', 'processed 0', 'processed 0'])
    const claimed = (await events(room)).map((event) => [event.webhook_call_id, event.payment_id])
    assert.deepEqual(
      new Set(claimed.map(String)),
      new Set(calls.map((one, place) => String([one.id, orders[place]?.id]))),
    )
  })

  test('without calls is nothing', async () => {
    assert.deepEqual(await room.processBatch([]), [])
  })

  test('claims without listeners in the transaction are taken by one statement', async (t) => {
    const { calls } = await paying(3)
    room.onQueued('PaymentSucceeded')
    const sent = statements(t)
    assert.deepEqual(await room.processBatch(calls), ['done', 'done', 'done'])
    assert.equal(sent.filter((text) => /insert into billing\.events/.test(text)).length, 1)
    assert.deepEqual(
      sent.filter((text) => /savepoint/.test(text)),
      [],
    )
    assert.equal((await events(room)).length, 3)
    assert.deepEqual(room.woken, ['workers', 'workers', 'workers'])
  })

  test('sends statements that are prepared once, each under a name of its own, however many calls there are', async (t) => {
    const sent = statements(t)
    const textsOf = async (count: number) => {
      const { calls } = await paying(count)
      sent.length = 0
      await room.processBatch(calls)
      return sent.filter((text) => /billing\./.test(text))
    }
    assert.deepEqual(
      (await textsOf(2)).filter((text) => /deliveries/.test(text)),
      [],
      'nobody has a delivery',
    )
    listen('none')
    room.onQueued('PaymentSucceeded')
    const two = await textsOf(2)
    const names = two.map((text) => /^\s*\/\* quittance:([a-z-]+) \*\//.exec(text)?.[1])
    assert.equal(names.includes(undefined), false, two.join('\n'))
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(await textsOf(3), two)
  })

  test('two calls about the same payment: the event is the first one’s, the second is left', async () => {
    const { orders, calls } = await paying(1)
    const second = await call(room, [paid(orders[0] ?? assert.fail())])
    listen('none')
    assert.deepEqual(await room.processBatch([...calls, second]), ['done', 'left'])
    assert.deepEqual(await room.processBatch([second]), ['done'])
    assert.deepEqual(await notes(room), ['heard 0'])
    assert.equal((await events(room))[0]?.webhook_call_id, calls[0]?.id)
    const outcomes = await Promise.all(
      [...calls, second].map(async (one) => (await callRow(room, one)).outcome),
    )
    assert.match(outcomes[0] ?? '', /applied/)
    assert.match(outcomes[1] ?? '', /duplicate/)
  })

  test('two payments that are paid by one new object of the provider: one of them is paid', async () => {
    const { orders } = await paying(2)
    const same = { checkoutReference: 'cs_1', providerReference: 'pi_1' }
    const calls: LeasedCall[] = []
    for (const order of orders) calls.push(await call(room, [{ ...paid(order), ...same }]))
    const ends = await room.processBatch(calls)
    for (const one of calls.filter((_one, place) => ends[place] === 'left')) {
      assert.deepEqual(await room.processBatch([one]), ['done'])
    }
    assert.deepEqual((await statuses(orders)).toSorted(), ['paid', 'pending'])
    assert.equal((await events(room)).length, 1)
    const rows = await Promise.all(calls.map((one) => callRow(room, one)))
    assert.equal(rows.filter((row) => row.needs_review).length, 1)
  })

  describe('a listener that', () => {
    test('throws undoes its own call alone', async () => {
      const { orders, calls } = await paying(3)
      listen('1', () => {
        throw new Error('no stock')
      })
      assert.deepEqual(await room.processBatch(calls), ['done', 'failed', 'done'])
      assert.deepEqual(await notes(room), ['heard 0', 'heard 2'])
      assert.deepEqual(await statuses(orders), ['paid', 'paid', 'paid'])
      assert.deepEqual(await states(calls), ['processed 0', 'pending 1', 'processed 0'])
      assert.deepEqual(
        (await events(room)).map((event) => event.payment_id),
        [orders[0]?.id, orders[2]?.id],
      )
    })

    test('throws first, or last, undoes no more', async () => {
      const first = await paying(2)
      let broken = '0'
      room.on('PaymentSucceeded', async ({ payment: { payable } }, { tx }) => {
        await tx.query(`insert into notes (author, about) values ('heard', $1)`, [payable.id])
        if (payable.id === broken) throw new Error('no stock')
      })
      assert.deepEqual(await room.processBatch(first.calls), ['failed', 'done'])
      const last = await paying(2)
      broken = '1'
      assert.deepEqual(await room.processBatch(last.calls), ['done', 'failed'])
      assert.deepEqual(await notes(room), ['heard 1', 'heard 0'])
    })

    test('meets a deadlock sends its own call back alone', async () => {
      const { calls } = await paying(2)
      listen('0', (tx) =>
        tx.query(`do $$ begin raise exception 'busy' using errcode = '40P01'; end $$`),
      )
      assert.deepEqual(await room.processBatch(calls), ['returned', 'done'])
      assert.deepEqual(await states(calls), ['pending 0', 'processed 0'])
    })

    test('ends the transaction costs its own call the attempt; the others are left as they were', async () => {
      const { orders, calls } = await paying(3)
      listen('1', (tx) => tx.client.query('select 1; rollback'))
      assert.deepEqual(await room.processBatch(calls), ['left', 'failed', 'left'])
      assert.deepEqual(await states(calls), ['processing 0', 'pending 1', 'processing 0'])
      assert.deepEqual(await statuses(orders), ['pending', 'paid', 'pending'])
      assert.equal((await callRow(room, calls[1] ?? assert.fail())).payment_id, orders[1]?.id)
      const text = 'a batch failed; each call goes alone'
      assert.deepEqual(logged(room), [`warn ${text}`, 'warn attempt failed, will be retried'])
      const { err, ...line } = lineOf(room, text)
      const { type, message } = err as Record<string, unknown>
      const why = 'a listener ended the transaction that it was given'
      assert.deepEqual([type, message], ['QuittanceError', why])
      assert.deepEqual(line, { calls: 3 })
    })

    test('commits the transaction commits nothing, of nobody', async () => {
      const { orders, calls } = await paying(3)
      const declined = await declining()
      listen('1', (tx) => tx.client.query('select 1; commit'))
      const results = await room.processBatch([...calls, declined])
      assert.deepEqual(results, ['left', 'failed', 'left', 'left'])
      assert.deepEqual([await events(room), await notes(room)], [[], []])
      // Its own payment moves all the same; the others go alone.
      assert.deepEqual(await statuses(orders), ['pending', 'paid', 'pending'])
    })

    test('hides that it began another transaction is found out before that is committed', async () => {
      const { orders, calls } = await paying(2)
      const begun = String.raw`select 1; rollback; begin; savepoint U&"quittance\005flisteners"`
      listen('0', (tx) => tx.client.query(begun))
      assert.deepEqual(await room.processBatch(calls), ['left', 'left'])
      assert.deepEqual([await events(room), await notes(room)], [[], []])
      assert.deepEqual(await statuses(orders), ['pending', 'pending'])
    })

    test('takes too long costs its own call the attempt', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { orders, calls } = await paying(2)
      listen('1', () => {
        time.strike()
        return new Promise(() => {})
      })
      assert.deepEqual(await room.processBatch(calls), ['left', 'failed'])
      assert.deepEqual(await statuses(orders), ['pending', 'paid'])
      assert.deepEqual([await eventTypes(room), await notes(room)], [[], []])
    })

    test('is slow ends the sharing: later calls with listeners are left, those without are done', async () => {
      const { orders, calls } = await paying(4)
      const declined = await declining()
      let took = 500
      room.on('PaymentSucceeded', () => void (passed += took))
      const [first, second, third, fourth] = calls as [LeasedCall, ...typeof calls]
      assert.ok(first && second && third && fourth)
      assert.deepEqual(await room.processBatch([first, second]), ['done', 'done'])
      took = 501
      const results = await room.processBatch([third, fourth, declined])
      assert.deepEqual(results, ['done', 'left', 'done'])
      assert.deepEqual(await states([third, fourth, declined]), [
        'processed 0',
        'processing 0',
        'processed 0',
      ])
      // Its payment has moved with the others; its event is claimed when it goes alone.
      assert.deepEqual(await statuses(orders.slice(3)), ['paid'])
      assert.equal(await room.processOne(fourth), 'done')
      assert.equal((await eventTypes(room)).length, 5)
    })

    test('leaves a setting in the transaction ends the sharing', async () => {
      const { calls } = await paying(3)
      listen('1', (tx) => tx.query(`set local work_mem = '1MB'`))
      assert.deepEqual(await room.processBatch(calls), ['done', 'done', 'left'])
      assert.deepEqual(await notes(room), ['heard 0', 'heard 1'])
    })

    test('leaves a setting in the session takes its connection along', async () => {
      const { calls } = await paying(1)
      listen('0', (tx) => tx.query(`set datestyle to 'SQL, DMY'`))
      assert.deepEqual(await room.processBatch(calls), ['done'])
      const { rows } = await room.database.pool.query('show datestyle')
      assert.deepEqual(rows, [{ DateStyle: 'ISO, MDY' }])
    })

    test('leaves a setting and throws leaves nothing; the next one is left all the same', async () => {
      const { calls } = await paying(2)
      listen('0', async (tx) => {
        await tx.query(`set local work_mem = '1MB'`)
        throw new Error('no stock')
      })
      assert.deepEqual(await room.processBatch(calls), ['failed', 'left'])
    })
  })

  test('that has claimed goes on, whatever is registered meanwhile', async () => {
    const { calls } = await paying(2)
    listen('0', () => newcomer(room, 'PaymentRefunded'))
    assert.deepEqual(await room.processBatch(calls), ['done', 'done'])
    assert.deepEqual(await notes(room), ['heard 0', 'heard 1'])
  })

  describe('the transaction fails', () => {
    test('at a call that another worker has taken over: nobody is blamed, each goes alone', async () => {
      const { orders, calls } = await paying(2)
      listen('none')
      await stealLease(room, 'webhook_calls', calls[1] ?? assert.fail())
      assert.deepEqual(await room.processBatch(calls), ['left', 'left'])
      assert.deepEqual(await statuses(orders), ['pending', 'pending'])
      assert.deepEqual(await states(calls), ['processing 0', 'processing 0'])
      assert.deepEqual(logged(room), ['warn a batch failed; each call goes alone'])
      const { err } = lineOf(room, 'a batch failed; each call goes alone')
      assert.match(JSON.stringify(err), /LeaseLost/)
    })

    test('after a listener threw: the attempt is not said to have failed before it has', async () => {
      const { calls } = await paying(2)
      room.on('PaymentSucceeded', () => {
        throw new Error('no stock')
      })
      await stealLease(room, 'webhook_calls', calls[1] ?? assert.fail())
      assert.deepEqual(await room.processBatch(calls), ['left', 'left'])
      assert.deepEqual(await states(calls), ['processing 0', 'processing 0'])
      assert.deepEqual(logged(room), ['warn a batch failed; each call goes alone'])
    })

    test('at the database: nobody is blamed', async () => {
      const { calls } = await paying(2)
      listen('none')
      const struck = { table: 'webhook_calls', on: 'update', sqlState: '22003' } as const
      await fault(room, { ...struck, times: 1 })
      assert.deepEqual(await room.processBatch(calls), ['left', 'left'])
      assert.deepEqual(await states(calls), ['processing 0', 'processing 0'])
    })

    test('before any listener runs: nobody is blamed', async () => {
      const { calls } = await paying(2)
      await fault(room, { table: 'payments', on: 'update', sqlState: '22003', times: 1 })
      assert.deepEqual(await room.processBatch(calls), ['left', 'left'])
    })

    test('for this process lacks a listener: all calls are left to others', async () => {
      const { orders, calls } = await paying(2)
      listen('none')
      await newcomer(room, 'PaymentRefunded')
      assert.deepEqual(await room.processBatch(calls), ['returned', 'returned'])
      assert.deepEqual(await states(calls), ['pending 0', 'pending 0'])
      assert.deepEqual(await statuses(orders), ['pending', 'pending'])
      assert.deepEqual(logged(room), ['warn left to a process with every listener'])
      assert.equal(lineOf(room, 'left to a process with every listener')['rows'], 2)
    })

    test('for this process lacks a listener, and so does one whose first calls claim nothing', async () => {
      const { calls } = await paying(1)
      listen('none')
      const nothing = await call(room, [{ type: 'ignored', reason: 'unhandled_event' }])
      await newcomer(room, 'PaymentRefunded')
      assert.deepEqual(await room.processBatch([nothing, ...calls]), ['returned', 'returned'])
      assert.deepEqual([await notes(room), await eventTypes(room)], [[], []])
    })

    test('and so does every record of it: the leases run out', async () => {
      const { calls } = await paying(2)
      listen('1', async (tx) => {
        await tx.client.query('select 1; rollback')
        await fault(room, { table: 'webhook_calls', on: 'update', sqlState: '22003' })
      })
      assert.deepEqual(await room.processBatch(calls), ['left', 'lost'])
      assert.equal(lineOf(room, 'lease left to run out')['call'], calls[1]?.id)
      assert.equal(logged(room).at(-1), 'error lease left to run out')
    })

    test('and the calls cannot be left to others either: the leases run out', async () => {
      const { calls } = await paying(2)
      await newcomer(room, 'PaymentRefunded')
      await fault(room, { table: 'webhook_calls', on: 'update', sqlState: '22003' })
      assert.deepEqual(await room.processBatch(calls), ['lost', 'lost'])
      assert.deepEqual(logged(room).slice(1), [
        'error lease left to run out',
        'error lease left to run out',
      ])
    })
  })

  describe('of one call', () => {
    test('ends like that call alone', async () => {
      const { orders, calls } = await paying(1)
      listen('0', (tx) => tx.client.query('select 1; rollback'))
      assert.deepEqual(await room.processBatch(calls), ['failed'])
      assert.deepEqual(await statuses(orders), ['paid'])
      assert.deepEqual(logged(room), ['warn attempt failed, will be retried'])
    })

    test('never rejects: the lease runs out', async () => {
      const { calls } = await paying(1)
      await fault(room, { table: 'webhook_calls', on: 'update', sqlState: '22003' })
      assert.deepEqual(await room.processBatch(calls), ['lost'])
      assert.deepEqual(logged(room).slice(-1), ['error lease left to run out'])
    })
  })
})
