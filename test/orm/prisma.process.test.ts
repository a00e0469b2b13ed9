import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import type { ListenerTransaction } from '../../src/listeners/listener.ts'
import { prismaPool } from '../../src/listeners/prisma.ts'
import { openBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { failOrder, listenerOf, loadListener, payOrder, shop, shopState } from './page-listeners.ts'
import { prismaProject, typeCheck } from './prisma-project.ts'

interface Model {
  create(args: object): Promise<unknown>
  update(args: object): Promise<unknown>
  count(args?: object): Promise<number>
}

/** What the generated client is to these tests. */
interface Prisma {
  readonly order: Model
  readonly note: Model
  $transaction<T>(work: (inner: Prisma) => Promise<T>, options?: object): Promise<T>
  $transaction(work: readonly Promise<unknown>[]): Promise<unknown>
  $disconnect(): Promise<void>
}

const project = await prismaProject()
const home = 'folder' in project ? project.folder : ''
let open: (tx: ListenerTransaction) => Prisma

const note = (text: string) => ({ data: { text, orderId: '42' } })
const paid = { where: { id: '42' }, data: { paid: true } }
/** A nested write: one transaction of Prisma's own. */
const paidWith = (text: string) => ({
  ...paid,
  data: { paid: true, notes: { create: [{ text: `${text} 1` }, { text: `${text} 2` }] } },
})
const stop = async () => {
  throw new Error('stop')
}

describe('with the real Prisma', { skip: project.missing }, () => {
  before(async () => {
    const { PrismaClient } = (await import(join(home, 'generated/client.ts'))) as {
      PrismaClient: new (options: object) => Prisma
    }
    const adapter = createRequire(join(home, 'package.json')).resolve('@prisma/adapter-pg')
    const { PrismaPg } = (await import(adapter)) as {
      PrismaPg: new (pool: pg.PoolConfig) => object
    }
    // Those of Prisma itself are 2 s and 5 s.
    const transactionOptions = { maxWait: 120_000, timeout: 120_000 }
    open = (tx) => new PrismaClient({ adapter: new PrismaPg(prismaPool(tx)), transactionOptions })
    // The first client of a process loads its compiler; listeners have a second on the embedded one.
    const refusing = () => {
      throw new Error('not today')
    }
    const unused = { client: { query: refusing } } as unknown as ListenerTransaction
    await assert.rejects(open(unused).note.count(), /not today/)
  })

  test('the adapter of the tests has a copy of pg of its own, as in an app with another version', () => {
    const theirs = createRequire(createRequire(join(home, 'x.js')).resolve('@prisma/adapter-pg'))
    assert.notEqual(theirs('pg'), pg)
  })

  test('the listener of docs/orm.md, Prisma, type-checks', async () => {
    const folder = mkdtempSync(join(home, 'types-'))
    try {
      const file = join(folder, 'listener.ts')
      writeFileSync(file, listenerOf('Prisma').replace("'./generated/", "'../generated/"))
      await typeCheck(home, file)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  onAnyDatabase((engine) => {
    test('the listener of docs/orm.md, Prisma, writes with its event', async () => {
      const listener = await loadListener(home, listenerOf('Prisma'))
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query(shop)
      core.on('PaymentSucceeded', 'payOrder', listener)
      const id = await payOrder(core)
      assert.deepEqual(await shopState(database), { paid: true, notes: [`paid by ${id}`] })
    })
  })

  onPostgres((engine) => {
    /** What is in the shop after a payment whose listener does this. */
    const after = async (work: (prisma: Prisma, tx: ListenerTransaction) => unknown) => {
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query(shop)
      core.on('PaymentSucceeded', 'payOrder', (_event, { tx }) => work(open(tx), tx))
      const id = await payOrder(core)
      assert.equal((await core.payments.get(id))?.events.length, 1)
      return await shopState(database)
    }
    /** The same where the listener fails: nothing is there then, and this is the exception. */
    const failure = async (work: (prisma: Prisma, tx: ListenerTransaction) => unknown) => {
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query(shop)
      core.on('PaymentSucceeded', 'payOrder', (_event, { tx }) => work(open(tx), tx))
      const exception = await failOrder(core)
      assert.deepEqual(await shopState(database), { paid: false, notes: [] })
      return exception
    }

    describe('Prisma in a listener', () => {
      test('writes nothing that stays where the listener throws', async () => {
        const exception = await failure(async (prisma) => {
          await prisma.order.update(paidWith('one'))
          await prisma.$transaction((inner) => inner.note.create(note('two')))
          await stop()
        })
        assert.match(exception, /^in listener payOrder: Error: stop/)
      })

      test('undoes a nested write that fails, and nothing else', async () => {
        const state = await after(async (prisma) => {
          await prisma.note.create(note('taken 2'))
          await assert.rejects(prisma.order.update(paidWith('taken')), { code: 'P2002' })
          await prisma.note.create(note('after'))
        })
        assert.deepEqual(state, { paid: false, notes: ['taken 2', 'after'] })
      })

      test('commits and rolls back its transactions, of either form and in each other', async () => {
        const state = await after(async (prisma, tx) => {
          await prisma.$transaction([prisma.order.update(paid), prisma.note.create(note('one'))])
          const undone = prisma.$transaction(async (inner) => {
            await inner.note.create(note('two'))
            assert.equal(await inner.note.count(), 2)
            await stop()
          })
          await assert.rejects(undone, /stop/)
          await tx.query('begin')
          await prisma.$transaction(async (inner) => {
            await inner.note.create(note('three'))
            await assert.rejects(inner.$transaction((i) => i.note.create(note('one'))))
            await inner.note.create(note('four'))
          })
          await tx.query('commit')
        })
        assert.deepEqual(state, { paid: true, notes: ['one', 'three', 'four'] })
      })

      test('takes what is asked at the same time in turn', async () => {
        const state = await after((prisma) =>
          Promise.all([
            prisma.order.update(paidWith('one')),
            prisma.note.create(note('two')),
            prisma.$transaction((inner) => inner.note.create(note('three'))),
          ]),
        )
        assert.deepEqual(state.notes.toSorted(), ['one 1', 'one 2', 'three', 'two'])
      })

      test('is refused an isolation level that its transaction has not', async () => {
        const strict = { isolationLevel: 'Serializable' }
        const exception = await failure((prisma) =>
          prisma.$transaction((inner) => inner.order.update(paid), strict),
        )
        assert.match(exception, /SET TRANSACTION ISOLATION LEVEL must/)
      })

      test('ends nothing by its $disconnect', async () => {
        const state = await after(async (prisma, tx) => {
          await prisma.note.create(note('one'))
          await prisma.$disconnect()
          await open(tx).order.update(paid)
        })
        assert.deepEqual(state, { paid: true, notes: ['one'] })
      })

      test('is of no use once the listener has ended', async () => {
        let kept: Prisma | undefined
        const state = await after(async (prisma) => {
          kept = prisma
          await prisma.note.create(note('one'))
        })
        assert.deepEqual(state.notes, ['one'])
        await assert.rejects(
          async () => kept?.note.create(note('two')),
          /used after the listener had ended/,
        )
      })
    })
  })
})
