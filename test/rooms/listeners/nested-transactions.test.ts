import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import type { ListenerContext, ListenerTransaction } from '../../../src/listeners/listener.ts'
import { onPostgres } from '../../support/databases.ts'
import { call, callRow, eventTypes, notes, paying, payment, useRoom } from '../processing/room.ts'
import { paid } from '../../support/statements.ts'

type Tables = { notes: { author: string; about: string } }

const drizzleNotes = pgTable('notes', { author: text('author'), about: text('about') })

/** Runs the work in a transaction inside the listener's; the work writes notes by what it gets. */
type Nest = (tx: ListenerTransaction, work: (write: Write) => Promise<unknown>) => Promise<unknown>
type Write = (author: string) => Promise<unknown>

const nesting: Readonly<Record<string, Nest>> = {
  pg: async ({ client }, work) => {
    await client.query('begin')
    try {
      await work((author) => client.query(`insert into notes values (default, $1, 'pg')`, [author]))
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  },
  Drizzle: ({ client }, work) =>
    drizzle(client).transaction((inner) =>
      work((author) => inner.insert(drizzleNotes).values({ author, about: 'Drizzle' })),
    ),
  Kysely: (tx, work) =>
    tx
      .withTables<Tables>()
      .transaction()
      .execute((inner) =>
        work((author) => inner.insertInto('notes').values({ author, about: 'Kysely' }).execute()),
      ),
}

const note = (tx: ListenerTransaction, author: string) =>
  tx.query(`insert into notes (author, about) values ($1, 'plain')`, [author])
const stop = async () => {
  throw new Error('stop')
}

onPostgres(() => {
  const room = useRoom()
  const listen = (listener: (context: ListenerContext) => unknown) =>
    room.on('PaymentSucceeded', (_event, context) => listener(context))
  /** What became of a call whose payment's listener does this. */
  const run = async (listener: (tx: ListenerTransaction) => unknown) => {
    const { leased } = await paying(room)
    listen(({ tx }) => listener(tx))
    const end = await room.processOne(leased)
    const exception = (await callRow(room, leased)).exception ?? ''
    return { end, exception }
  }

  for (const [name, nest] of Object.entries(nesting)) {
    describe(`a transaction of ${name} inside a listener's`, () => {
      test('keeps what it commits', async () => {
        const { end } = await run(async (tx) => {
          await nest(tx, async (write) => {
            await write('one')
            await write('two')
          })
          await note(tx, 'three')
        })
        assert.equal(end, 'done')
        assert.deepEqual(await notes(room), [`one ${name}`, `two ${name}`, 'three plain'])
      })

      test('undoes what it wrote, and nothing else', async () => {
        const { end } = await run(async (tx) => {
          await note(tx, 'before')
          const undone = nest(tx, async (write) => {
            await write('one')
            await stop()
          })
          await assert.rejects(undone, /stop/)
          await note(tx, 'after')
          await nest(tx, (write) => write('another'))
        })
        assert.equal(end, 'done')
        assert.deepEqual(await notes(room), ['before plain', 'after plain', `another ${name}`])
      })

      test('survives a failed statement, which is undone with all that it wrote', async () => {
        const { end } = await run(async (tx) => {
          const failed = nest(tx, async (write) => {
            await write('one')
            await tx.query('select 1/0')
          })
          await assert.rejects(failed, /division by zero/)
          await note(tx, 'after')
        })
        assert.equal(end, 'done')
        assert.deepEqual(await notes(room), ['after plain'])
      })

      test('is not committed where it hides a failed statement', async () => {
        const { end } = await run(async (tx) => {
          const hiding = nest(tx, async (write) => {
            await write('one')
            await tx.query('select 1/0').catch(() => {})
          })
          await assert.rejects(hiding, ({ cause, message }: Error) =>
            /transaction is aborted/.test(`${message} ${String(cause)}`),
          )
          await note(tx, 'after')
        })
        assert.equal(end, 'done')
        assert.deepEqual(await notes(room), ['after plain'])
      })

      test('commits nothing by itself: it goes with the event of a listener that throws', async () => {
        const order = await payment(room)
        const failing = await call(room, [paid(order)])
        const { leased: sound } = await paying(room)
        room.on('PaymentSucceeded', async (event, { tx }) => {
          await nest(tx, (write) => write(event.payment.id === order.id ? 'failing' : 'sound'))
          if (event.payment.id === order.id) await stop()
        })
        assert.deepEqual(await room.processBatch([failing, sound]), ['failed', 'done'])
        assert.deepEqual(await notes(room), [`sound ${name}`])
        assert.deepEqual(await eventTypes(room), ['PaymentSucceeded'])
      })

      test('is one at a time: a second one beside it is refused', async () => {
        const { end, exception } = await run((tx) =>
          Promise.all([nest(tx, (write) => write('one')), nest(tx, (write) => write('two'))]),
        )
        assert.equal(end, 'failed')
        assert.match(
          exception,
          /a listener's nested transaction runs beside other statements: begin/,
        )
        assert.deepEqual(await notes(room), [])
      })

      test('writes nothing where the listener does not wait for it', async () => {
        await run((tx) => {
          nest(tx, (write) => write('one')).catch(() => {})
        })
        assert.deepEqual(await notes(room), [])
      })
    })
  }

  describe('transactions inside a listener’s', () => {
    const outerKept = ['one plain', 'four plain']

    test('nest to any depth, and end from the inside', async () => {
      const { end } = await run(async (tx) => {
        for (const name of ['one', 'two', 'three']) {
          await tx.query('begin')
          await note(tx, name)
        }
        await tx.query('commit')
        await tx.query('rollback')
        await note(tx, 'four')
        await tx.query('commit')
      })
      assert.equal(end, 'done')
      assert.deepEqual(await notes(room), outerKept)
    })

    test('of several query builders nest in each other', async () => {
      const { pg, Drizzle, Kysely } = nesting as { [name in 'pg' | 'Drizzle' | 'Kysely']: Nest }
      const { end } = await run((tx) =>
        pg(tx, async (write) => {
          await write('one')
          const undone = Kysely(tx, async (inner) => {
            await inner('two')
            await Drizzle(tx, (innermost) => innermost('three'))
            await stop()
          })
          await assert.rejects(undone, /stop/)
        }),
      )
      assert.equal(end, 'done')
      assert.deepEqual(await notes(room), ['one pg'])
    })

    test('mix with savepoints', async () => {
      const { end, exception } = await run(async (tx) => {
        await tx.query('savepoint mine')
        await tx.query('begin')
        await note(tx, 'one')
        await tx.query('savepoint deeper')
        await note(tx, 'two')
        await tx.query('rollback to savepoint deeper')
        await tx.query('release savepoint deeper')
        await tx.query('commit')
        await tx.query('begin')
        await note(tx, 'three')
        await tx.query('rollback')
        await tx.query('release savepoint mine')
        await note(tx, 'four')
      })
      assert.equal(end, 'done', exception)
      assert.deepEqual(await notes(room), outerKept)
    })

    test('end with the savepoint that they were begun behind, and cannot be committed then', async () => {
      const { end, exception } = await run(async (tx) => {
        await tx.query('savepoint mine')
        await tx.query('begin')
        await note(tx, 'one')
        await tx.query('rollback to savepoint mine')
        await tx.query('commit')
      })
      assert.equal(end, 'failed')
      assert.match(exception, /savepoint "quittance_nested_1" does not exist/)
    })

    test('that are begun in an aborted one were never begun', async () => {
      const { end, exception } = await run(async (tx) => {
        await tx.query('begin')
        await tx.query('select 1/0').catch(() => {})
        // An error is answered before the server is ready for more; the empty statement waits for it.
        await tx.query('')
        await assert.rejects(async () => tx.query('begin'), /aborted/)
        await tx.query('rollback')
        await note(tx, 'one')
      })
      assert.equal(end, 'done', exception)
      assert.deepEqual(await notes(room), ['one plain'])
    })

    test('that are left open fail their listener', async () => {
      const { end, exception } = await run(async (tx) => {
        await tx.query('begin')
        await note(tx, 'one')
      })
      assert.equal(end, 'failed')
      assert.match(exception, /^in listener listener: Error: .* left a nested transaction open/)
      assert.deepEqual([await notes(room), await eventTypes(room)], [[], []])
    })

    for (const left of ['begin', 'begin; commit'] as const) {
      test(`leave nothing behind that one could end: commit after ${left}`, async () => {
        const { end, exception } = await run(async (tx) => {
          await note(tx, 'one')
          for (const statement of left.split('; ')) await tx.query(statement)
          await tx.query('commit')
          await tx.query('commit')
        })
        assert.equal(end, 'failed')
        assert.match(exception, /a listener tried to end its transaction: commit/)
        assert.deepEqual(await notes(room), [])
      })
    }

    test('hide no commit of ours', async () => {
      const { end } = await run(async (tx) => {
        await tx.query('begin')
        await note(tx, 'one')
        await tx.client.query('select 1; commit')
        await tx.query('commit')
      })
      assert.equal(end, 'failed')
      assert.deepEqual([await notes(room), await eventTypes(room)], [[], []])
    })

    test('have the isolation level of their listener’s, and no other', async () => {
      const { end } = await run(async (tx) => {
        const begin = tx.transaction()
        const strict = begin.setIsolationLevel('serializable').execute(stop)
        await assert.rejects(strict, { code: 'transaction_control_refused' })
        await begin.setIsolationLevel('read committed').execute(async () => note(tx, 'one'))
      })
      assert.equal(end, 'done')
      assert.deepEqual(await notes(room), ['one plain'])
    })

    test('of Kysely are refused statements of the handle around them', async () => {
      const { end, exception } = await run((tx) => {
        const outer = tx.withTables<Tables>()
        return outer
          .transaction()
          .execute(() => outer.insertInto('notes').values({ author: 'one', about: '' }).execute())
      })
      assert.equal(end, 'failed')
      assert.match(
        exception,
        /nested transaction runs beside other statements: insert into "notes"/,
      )
    })

    test('of Kysely end none that the client has begun beside them', async () => {
      const { end, exception } = await run(async (tx) => {
        const begun = await tx.withTables<Tables>().startTransaction().execute()
        await begun.insertInto('notes').values({ author: 'one', about: 'kept' }).execute()
        await tx.client.query('begin')
        await begun
          .commit()
          .execute()
          .catch(() => {})
        await tx.client.query('rollback')
      })
      assert.equal(end, 'failed', exception)
      assert.match(exception, /left a nested transaction open/)
      assert.deepEqual(await notes(room), [])
    })

    test('of Kysely have savepoints of their own', async () => {
      const { end } = await run(async (tx) => {
        const begun = await tx.withTables<Tables>().startTransaction().execute()
        const saved = await begun.savepoint('mine').execute()
        await saved.insertInto('notes').values({ author: 'one', about: 'undone' }).execute()
        await saved.rollbackToSavepoint('mine').execute()
        await begun.insertInto('notes').values({ author: 'two', about: 'kept' }).execute()
        await begun.commit().execute()
      })
      assert.equal(end, 'done')
      assert.deepEqual(await notes(room), ['two kept'])
    })
  })
})
