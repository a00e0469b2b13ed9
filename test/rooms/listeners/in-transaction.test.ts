import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { ListenerContext, ListenerTransaction } from '../../../src/listeners/listener.ts'
import { onPostgres } from '../../support/databases.ts'
import { handTimers } from '../../support/hand-timers.ts'
import { until } from '../../support/until.ts'
import { paid } from '../../support/statements.ts'
import type { Statement } from '../../support/stating-gateway.ts'
import {
  call,
  callRow,
  deliveries,
  eventTypes,
  logged,
  notes,
  payment,
  statements,
  unanswered,
  useRoom,
} from '../processing/room.ts'

onPostgres(() => {
  const room = useRoom()
  const card: Statement = { type: 'payment_method', status: 'attached', reference: 'pm_1' }
  const paying = async (...more: readonly Statement[]) => {
    const order = await payment(room)
    return { order, leased: await call(room, [paid(order), ...more]) }
  }
  const exceptionOf = async (leased: { readonly id: string }) =>
    (await callRow(room, leased)).exception ?? ''
  /** The second listener; it must not run. */
  const followed = () =>
    room.on('PaymentSucceeded', () => assert.fail('the first one had failed'), { name: 'second' })

  describe('which listeners run in the transaction', () => {
    test('those of each event that is won, in the order of their registration', async () => {
      const { leased } = await paying(card)
      const heard: string[] = []
      for (const name of ['one', 'two']) {
        const types = ['PaymentMethodAttached', 'PaymentSucceeded'] as const
        room.on(types, ({ type }) => void heard.push(`${name} ${type}`), { name })
      }
      await room.processOne(leased)
      // Events go by their keys.
      assert.deepEqual(heard, [
        'one PaymentSucceeded',
        'two PaymentSucceeded',
        'one PaymentMethodAttached',
        'two PaymentMethodAttached',
      ])
    })

    test('those of one event, where another one of the call has none', async () => {
      const { leased } = await paying(card)
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1))
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(runs, 1)
      assert.deepEqual((await eventTypes(room)).toSorted(), [
        'PaymentMethodAttached',
        'PaymentSucceeded',
      ])
    })

    test('none that are queued', async () => {
      const { leased } = await paying()
      room.onQueued('PaymentSucceeded', () => assert.fail('it runs later'))
      room.on('PaymentSucceeded', () => {})
      assert.equal(await room.processOne(leased), 'done')
      assert.equal((await deliveries(room)).length, 1)
    })

    test('none where the event was claimed before', async (t) => {
      const { order, leased } = await paying()
      await room.processOne(leased)
      const second = await call(room, [paid(order)])
      assert.equal(await room.processOne(second), 'done')
      assert.match((await callRow(room, second)).outcome ?? '', /duplicate/)
      room.on('PaymentSucceeded', () => assert.fail('it was claimed before'))
      const third = await call(room, [paid(order)])
      const sent = statements(t)
      assert.equal(await room.processOne(third), 'done')
      assert.deepEqual(logged(room), ['info PaymentSucceeded'])
      // Nothing was done that a fresh savepoint would have to protect.
      assert.equal(sent.filter((text) => text.startsWith('release')).length, 0)
    })
  })

  describe('a listener in the transaction', () => {
    test('has it, and the billing that is bound to it, for as long as it runs', async () => {
      const { order, leased } = await paying()
      let kept: ListenerTransaction | undefined
      room.on('PaymentSucceeded', async (event, { tx, billing, idempotencyKey }) => {
        kept = tx
        assert.equal((await billing.payments.get(event.payment.id))?.status, 'paid')
        assert.equal(idempotencyKey, `payment:paid:${order.id}/listener`)
        await tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
      })
      assert.equal(await room.processOne(leased), 'done')
      assert.deepEqual(await notes(room), ['listener heard'])
      const late = async () => kept?.query('select 1')
      await assert.rejects(late, { code: 'outer_handle_in_listener' })
    })

    test('has it no longer where another one has failed', async () => {
      const { leased } = await paying()
      let kept: ListenerTransaction | undefined
      room.on('PaymentSucceeded', (_event, { tx }) => {
        kept = tx
        throw new Error('closed')
      })
      assert.equal(await room.processOne(leased), 'failed')
      const late = async () => kept?.query('select 1')
      await assert.rejects(late, { code: 'outer_handle_in_listener' })
    })

    test('has it no longer from the moment its time is up', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { leased } = await paying()
      let late: Promise<void> | undefined
      room.on('PaymentSucceeded', async (_event, { tx, signal }) => {
        await tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
        const end = async () => void (await tx.client.query('select 1; commit'))
        signal.addEventListener('abort', () => {
          late = assert.rejects(end, { code: 'outer_handle_in_listener' })
        })
        time.strike()
        await new Promise(() => {})
      })
      assert.equal(await room.processOne(leased), 'failed')
      await (late ?? assert.fail('nobody said that the time was up'))
      assert.deepEqual([await notes(room), await eventTypes(room)], [[], []])
    })

    test('that ended in time is not aborted later', async () => {
      using time = handTimers()
      room.give({ listenersMayTakeMs: time.lengthMs })
      const { leased } = await paying()
      let signal: AbortSignal | undefined
      room.on('PaymentSucceeded', (_event, context) => void (signal = context.signal))
      assert.equal(await room.processOne(leased), 'done')
      assert.equal(time.started, 1)
      time.strike()
      assert.equal(signal?.aborted, false)
    })

    test('may throw anything', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', () => {
        throw undefined
      })
      assert.equal(await room.processOne(leased), 'failed')
      assert.equal(await exceptionOf(leased), 'in listener listener: undefined')
    })

    test('that tries to commit is refused, and has failed alone', async () => {
      const { order, leased } = await paying()
      const { leased: other } = await paying()
      room.on('PaymentSucceeded', (event, { tx }) =>
        event.payment.id === order.id ? tx.query('commit') : undefined,
      )
      assert.deepEqual(await room.processBatch([leased, other]), ['failed', 'done'])
      assert.match(
        await exceptionOf(leased),
        /^in listener listener: QuittanceError: a listener tried to end its transaction: commit/,
      )
    })
  })

  describe('a listener that hides a failed statement', () => {
    const hiding = (listener: (context: ListenerContext) => unknown) =>
      room.on('PaymentSucceeded', (_event, context) => listener(context), { name: 'first' })
    const hide = ({ tx }: ListenerContext, statement = 'select 1/0') =>
      tx.query(statement).catch(() => {})
    /** The server takes a while to abort this, and says only then what became of it. */
    const slowlyAborted = `do $$ begin
      for n in 1..200 loop execute format('create temp table t%s (a int)', n); end loop;
      raise 'too late'; end $$`
    const isFoundOut = async () => {
      const { leased } = await paying()
      followed()
      assert.equal(await room.processOne(leased), 'failed')
      const exception = await exceptionOf(leased)
      const text = 'listener first swallowed an SQL error: its transaction is aborted'
      assert.ok(exception.startsWith(`in listener first: Error: ${text}`), exception)
      assert.deepEqual(await eventTypes(room), [])
    }

    test('is found out before the next one runs', async () => {
      hiding((context) => hide(context, slowlyAborted))
      await isFoundOut()
    })

    test('is found out where its next statement says so', async () => {
      hiding(async (context) => {
        await hide(context)
        await context.tx.query('select 1')
      })
      await isFoundOut()
    })

    test('is found out where it did not wait for the statement', async () => {
      hiding((context) => void hide(context))
      await isFoundOut()
    })

    test('behind a savepoint of its own has hidden nothing', async () => {
      const { leased } = await paying()
      hiding(async (context) => {
        await context.tx.query('savepoint mine')
        await hide(context)
        await context.tx.query('rollback to savepoint mine')
      })
      assert.equal(await room.processOne(leased), 'done')
    })
  })

  test('a listener that does not wait for a sound statement has failed in nothing', async () => {
    const { leased } = await paying()
    room.on('PaymentSucceeded', (_event, { tx }) => {
      void tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
    })
    assert.equal(await room.processOne(leased), 'done')
    assert.deepEqual(await notes(room), ['listener heard'])
  })

  describe('what a listener has left under way when it ends', () => {
    /** Three statements, one after the other. */
    const write = async ({ tx }: ListenerContext) => {
      const text = `insert into notes (author, about) values ('listener', 'late')`
      for (let sent = 0; sent < 3; sent += 1) await tx.query(text)
    }

    test('writes nothing behind its rollback, if it throws', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', async (_event, context) => {
        const left = write(context)
        left.catch(() => {})
        await Promise.all([left, Promise.reject(new Error('closed'))])
      })
      const { leased: other } = await paying()
      assert.deepEqual(await room.processBatch([leased, other]), ['failed', 'failed'])
      assert.deepEqual(await notes(room), [])
    })

    test('writes nothing behind its rollback through `billing` either', async () => {
      const order = await payment(room)
      room.give({
        bind: ({ db }) => ({
          payments: {
            create: async () => {
              for (let sent = 0; sent < 3; sent += 1) {
                await sql`insert into notes (author, about) values ('billing', 'late')`.execute(db)
              }
              return order
            },
            get: () => assert.fail('nobody asks'),
            list: () => assert.fail('nobody lists'),
          },
          subscriptions: {
            access: () => assert.fail('nobody asks'),
            list: () => assert.fail('nobody lists'),
          },
        }),
      })
      const { amount, currency, gateway, payable } = order
      const wanted = { amount, currency, gateway, payable }
      let left: Promise<unknown> | undefined
      room.on('PaymentSucceeded', async (event, { billing }) => {
        if (event.payment.id !== order.id) return
        const creating = billing.payments.create(wanted)
        left = assert.rejects(creating, { code: 'outer_handle_in_listener' })
        await Promise.reject(new Error('closed'))
      })
      const leased = await call(room, [paid(order)])
      const { leased: other } = await paying()
      assert.deepEqual(await room.processBatch([leased, other]), ['failed', 'done'])
      await (left ?? assert.fail('the listener has not run'))
      assert.deepEqual(await notes(room), [])
    })

    test('writes nothing into the time of the next one', async () => {
      const { leased } = await paying()
      let left: Promise<unknown> | undefined
      room.on('PaymentSucceeded', (_event, context) => {
        left = assert.rejects(write(context), { code: 'outer_handle_in_listener' })
      })
      const outlast = async ({ tx }: ListenerContext) => {
        await left
        await tx.query('select 1')
      }
      room.on('PaymentSucceeded', (_event, context) => outlast(context), { name: 'second' })
      assert.equal(await room.processOne(leased), 'done')
      await (left ?? assert.fail('the first one has not run'))
      assert.ok((await notes(room)).length < 3)
    })
  })

  test('a listener that waits for its statements costs no round trip', async (t) => {
    const { leased } = await paying()
    room.on('PaymentSucceeded', ({ payment: { id } }, { billing }) => billing.payments.get(id))
    const sent = statements(t)
    assert.equal(await room.processOne(leased), 'done')
    assert.equal(sent.includes(''), false)
  })

  describe('a listener that ends the transaction', () => {
    test('is found out before the next one runs', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', (_event, { tx }) => tx.client.query('select 1; rollback'))
      followed()
      assert.equal(await room.processOne(leased), 'failed')
      const exception = await exceptionOf(leased)
      assert.match(exception, /^QuittanceError: a listener ended the transaction that it was given/)
      assert.doesNotMatch(exception, /caused by/)
    })

    test('is found out before the next one runs, even where it did not wait for that', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', (_event, { tx }) => {
        void tx.client.query('select 1; rollback')
      })
      let runs = 0
      room.on('PaymentSucceeded', () => void (runs += 1), { name: 'second' })
      assert.equal(await room.processOne(leased), 'failed')
      assert.equal(runs, 0)
      assert.match(await exceptionOf(leased), /^QuittanceError: a listener ended the transaction/)
    })

    test('is found out where it ends our savepoint in disguise, with what the server says', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', (_event, { tx }) =>
        tx.query(String.raw`release U&"quittance\005flisteners"`),
      )
      assert.equal(await room.processOne(leased), 'failed')
      assert.match(
        await exceptionOf(leased),
        /^QuittanceError: a listener ended the transaction[^]*caused by: error: .*savepoint/,
      )
    })
  })

  test('a listener that leaves a statement behind has taken its time as well', async () => {
    using time = handTimers()
    room.give({ listenersMayTakeMs: time.lengthMs })
    const { leased } = await paying()
    const holder = await room.database.pool.connect()
    await holder.query('select pg_advisory_lock(1)')
    room.on('PaymentSucceeded', (_event, { tx }) => {
      tx.query('select pg_advisory_xact_lock(1)').catch(() => {})
      // Once the listener has ended; and the server sees only then that nobody waits for it.
      setImmediate(() => {
        time.strike()
        holder.release(true)
      })
    })
    assert.equal(await room.processOne(leased), 'failed')
    const seconds = time.lengthMs / 1000
    const text = `listener listener did not end within ${seconds} s`
    assert.ok((await exceptionOf(leased)).includes(text))
  })

  test('a time that is up behind the last listener is up, whatever the connection says', async (t) => {
    using time = handTimers()
    room.give({ listenersMayTakeMs: time.lengthMs })
    const { leased } = await paying()
    room.on('PaymentSucceeded', () => {})
    const lost = unanswered(t, /^release savepoint/)
    const processed = room.processOne(leased)
    await until(() => lost.length > 0, { what: 'the savepoint is to be released' })
    time.strike()
    assert.equal(await processed, 'failed')
    const seconds = time.lengthMs / 1000
    const text = `listener listener did not end within ${seconds} s`
    assert.ok((await exceptionOf(leased)).includes(text))
  })

  describe('a connection that is lost', () => {
    const cut = 'select pg_terminate_backend(pg_backend_pid())'

    test('while a listener waits for it is nobody’s fault', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', (_event, { tx }) => tx.query(cut))
      assert.equal(await room.processOne(leased), 'returned')
      const { attempts, times_returned } = await callRow(room, leased)
      assert.deepEqual([attempts, times_returned], [0, 1])
    })

    test('after a listener is nobody’s fault', async () => {
      const { leased } = await paying()
      room.on('PaymentSucceeded', (_event, { tx }) => {
        tx.query(cut).catch(() => {})
      })
      assert.equal(await room.processOne(leased), 'returned')
      assert.equal((await callRow(room, leased)).attempts, 0)
    })
  })
})
