import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import pg from 'pg'
import type { Payment } from '../../../src/payments/payment.ts'
import type { CallEnd } from '../../../src/processing/end-calls.ts'
import { interpretCall } from '../../../src/processing/interpret-call.ts'
import type { LeasedCall } from '../../../src/queue/calls.ts'
import { callBatches, createBatches } from '../../../src/worker/batches.ts'
import { onPostgres } from '../../support/databases.ts'
import { paid } from '../../support/statements.ts'
import type { Statement } from '../../support/stating-gateway.ts'
import {
  assertDueAfter,
  call,
  callRow,
  endedTogether,
  handClock,
  payment,
  shortTimers,
  useRoom,
} from '../processing/room.ts'

onPostgres(() => {
  const room = useRoom()

  /** Calls of which each pays a charge of its own. */
  const paying = (count: number): Promise<readonly LeasedCall[]> =>
    Promise.all(Array.from({ length: count }, async () => call(room, [paid(await payment(room))])))
  const declining = async ({ id }: Payment) => call(room, [decline({ id })])
  const decline = (named: object): Statement => ({
    type: 'payment',
    payment: named,
    status: 'failed',
  })

  type Gathering = (calls: readonly LeasedCall[]) => Promise<readonly CallEnd[]>
  /** Batches as a worker with so many connections makes them; what is given at once comes in one turn. */
  const gathering = (connections: number): Gathering => {
    const { processing } = room
    const processInBatches = createBatches(callBatches, processing, connections)
    return async (calls) => {
      const interpreted = await Promise.all(
        calls.map(async (one) => ({ call: one, outcomes: await interpretCall(one, processing) })),
      )
      return Promise.all(interpreted.map(processInBatches))
    }
  }

  const batches = () => endedTogether(room, 'webhook_calls')

  test('calls without a listener in their transaction share one from the first on, 200 at most', async () => {
    room.onQueued('PaymentSucceeded')
    const ends = await gathering(1)(await paying(201))
    assert.deepEqual([...new Set(ends)], ['done'])
    assert.deepEqual(await batches(), [200, 1])
  })

  test('of those, three transactions are under way at the same time, or as many as there are connections', async () => {
    const mostUnderWay = async (connections: number) => {
      const hold = Promise.withResolvers<void>()
      let underWay = 0
      const { database } = room.processing
      room.give({
        database: {
          ...database,
          transaction: async (work) => {
            underWay += 1
            await hold.promise
            return database.transaction(work)
          },
        },
      })
      const gather = gathering(connections)
      const ends: unknown[] = []
      for (const one of await paying(4)) {
        ends.push(gather([one]))
        // The next one comes in a later turn.
        for (let turn = 0; turn < 5; turn += 1) await endOfTurn()
      }
      hold.resolve()
      const most = underWay
      await Promise.all(ends)
      room.give({ database })
      return most
    }
    assert.equal(await mostUnderWay(8), 3)
    assert.equal(await mostUnderWay(1), 1)
  })

  test('with listeners, batches grow while these are quick and shrink once they are slow', async (t) => {
    const clock = handClock(t)
    /** How long the batches take. */
    const take = [0, 0, 49, 50, 100, 101, 101, 101, 0]
    const sizes: number[] = []
    countBatches(sizes)
    room.on('PaymentSucceeded', () => {
      const batch = sizes.length - 1
      if (sizes[batch] === 0) clock.pass(take[batch] ?? 0)
      sizes[batch] = (sizes[batch] ?? 0) + 1
    })
    await gathering(1)(await paying(1 + 2 + 4 + 8 + 8 + 8 + 4 + 2 + 1 + 2))
    assert.deepEqual(sizes, [1, 2, 4, 8, 8, 8, 4, 2, 1, 2])
  })

  test('with listeners, a batch has 60 calls at most and one at least', async (t) => {
    const clock = handClock(t)
    const sizes: number[] = []
    countBatches(sizes)
    let slow = true
    room.on('PaymentSucceeded', () => {
      const batch = sizes.length - 1
      if (slow) clock.pass(101)
      sizes[batch] = (sizes[batch] ?? 0) + 1
    })
    const gather = gathering(1)
    await gather(await paying(2))
    assert.deepEqual(sizes, [1, 1])
    slow = false
    await gather(await paying(1 + 2 + 4 + 8 + 16 + 32 + 60 + 1))
    assert.deepEqual(sizes, [1, 1, 1, 2, 4, 8, 16, 32, 60, 1])
  })

  test('a call that is left by its batch goes on in one of its own', async (t) => {
    const clock = handClock(t)
    const sizes: number[] = []
    countBatches(sizes)
    let took = 0
    room.on('PaymentSucceeded', () => {
      clock.pass(took)
      sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + 1
    })
    const gather = gathering(1)
    await gather(await paying(1))
    took = 501
    assert.deepEqual(await gather(await paying(2)), ['done', 'done'])
    assert.deepEqual(sizes, [1, 1, 1])
  })

  /** Counts the transactions from now on. */
  function countBatches(sizes: number[]): void {
    const { database } = room.processing
    room.give({
      database: {
        ...database,
        transaction: (work) => {
          sizes.push(0)
          return database.transaction(work)
        },
      },
    })
  }

  test('a call is one with listeners if any of its events has one in the transaction', async () => {
    room.on('PaymentFailed', () => {})
    const mixed = async () => {
      const [first, second] = [await payment(room), await payment(room)]
      return call(room, [paid(first), decline({ id: second.id })])
    }
    const nothing = () => call(room, [{ type: 'ignored', reason: 'unhandled_event' }])
    const gather = gathering(1)
    await gather([await mixed(), await mixed()])
    assert.deepEqual(await batches(), [1, 1], 'the first batch with listeners is a single call')
    await gather([...(await paying(2)), await nothing()])
    assert.deepEqual(await batches(), [1, 1, 3])
  })

  test('a call that failed, cost a worker its life or was returned shares its transaction with nobody', async () => {
    const fresh = await paying(2)
    const spent = [{ attempts: 1 }, { leases_lost: 1 }, { times_returned: 1 }]
    const calls = await Promise.all(
      spent.map(async (fields) => call(room, [paid(await payment(room))], fields)),
    )
    await gathering(1)([...calls, ...fresh])
    assert.deepEqual(
      (await batches()).toSorted((a, b) => a - b),
      [1, 1, 1, 2],
    )
  })

  test('calls about one payment follow one another, by whichever name', async () => {
    const names = async (): Promise<readonly (readonly [Statement, Statement])[]> => {
      const [one, two, three] = [await payment(room), await payment(room), await payment(room)]
      const byPayer = { payment: { checkoutReference: 'x' }, claimed: { id: two.id, by: 'payer' } }
      return [
        [decline({ id: one.id }), paid(one)],
        [{ ...decline({ id: two.id }), ...byPayer }, paid(two)],
        [
          decline({ checkoutReference: 'y' }),
          { ...paid(three), payment: { checkoutReference: 'y' } },
        ],
      ]
    }
    for (const [first, second] of await names()) {
      const before = (await batches()).length
      await gathering(1)([await call(room, [first]), await call(room, [second])])
      assert.equal((await batches()).length, before + 2)
    }
  })

  test('calls that name no payment, and those of another gateway by the same name, share', async () => {
    const unnamed = { type: 'ignored', reason: 'unhandled_event' } as Statement
    const same = decline({ checkoutReference: 'x' })
    await gathering(1)([
      await call(room, [unnamed]),
      await call(room, [{ type: 'payment_method', status: 'detached', reference: 'pm' }]),
      await call(room, [same]),
      await call(room, [same], { gateway: 'asking' }),
    ])
    assert.deepEqual(await batches(), [4])
  })

  test('a call that waits half a second for another about its payment goes back, and no attempt is used', async (t) => {
    shortTimers(t, 500)
    const heard = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    room.on(['PaymentFailed', 'PaymentSucceeded'], () => {
      heard.resolve()
      return held.promise
    })
    const order = await payment(room)
    const gather = gathering(2)
    const [first, second] = [await declining(order), await call(room, [paid(order)])]
    const ends = gather([first])
    await heard.promise
    const cut = t.mock.method(pg.Pool.prototype, 'connect', () => {
      cut.mock.restore()
      return Promise.reject(new Error('Connection terminated unexpectedly'))
    })
    assert.deepEqual(await gather([second]), ['returned'])
    assert.equal(cut.mock.callCount(), 1, 'the connection is lost as well')
    const { state, attempts, times_returned, next_attempt_at } = await callRow(room, second)
    assert.deepEqual([state, attempts, times_returned], ['pending', 0, 1])
    assertDueAfter(room, next_attempt_at, 0.2)
    held.resolve()
    assert.deepEqual(await ends, ['done'])
  })
})
