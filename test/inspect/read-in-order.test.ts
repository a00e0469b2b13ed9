import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { readManyInOrder } from '../../src/database/read-in-order.ts'
import type { Tables } from '../../src/database/tables.ts'
import { readGauges } from '../../src/health/gauges.ts'
import { readReadiness } from '../../src/health/readiness.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onBothDatabases, onPostgres } from '../support/databases.ts'

/** The transaction of a read, and what it rules out. */
async function readOwn(db: Kysely<Tables>) {
  const { rows } = await sql<{ transaction: string; scans: string }>`
    select pg_current_xact_id()::text as transaction,
      current_setting('enable_seqscan') as scans`.execute(db)
  return rows[0] ?? assert.fail()
}

onBothDatabases((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  test('of many reads in order, one that fails fails alone', async () => {
    const { database } = billing
    const { pool } = database
    const reads = await readManyInOrder(database, async (inOrder) => {
      const first = await inOrder(readOwn)
      const broken = inOrder((db) => sql`select 1 / 0`.execute(db))
      await assert.rejects(broken, /division by zero/)
      return [first, await inOrder(readOwn), await inOrder(readOwn)]
    })
    assert.deepEqual(
      reads.map(({ scans }) => scans),
      ['off', 'off', 'off'],
    )
    const [first, second, third] = reads.map(({ transaction }) => transaction)
    assert.notEqual(first, second)
    // The embedded database serves nobody else during a transaction.
    assert.equal(second === third, database.kind === 'postgres')
    assert.equal(pool.idleCount, pool.totalCount)
  })

  test('what somebody throws between two reads is thrown, and the connection is given back', async () => {
    const { database } = billing
    const { pool } = database
    const work = readManyInOrder(database, async (inOrder) => {
      await inOrder(readOwn)
      throw new Error('not ours')
    })
    await assert.rejects(work, /not ours/)
    assert.equal(pool.idleCount, pool.totalCount)
  })
})

onPostgres((engine) => {
  test('reads that begin together share one transaction, and the connection is given back', async () => {
    await using billing = await openBilling(engine)
    const { database } = billing
    const reads = await readManyInOrder(database, (inOrder) =>
      Promise.all([inOrder(readOwn), inOrder(readOwn)]),
    )
    assert.equal(new Set(reads.map(({ transaction }) => transaction)).size, 1)
    const { pool } = database
    assert.equal(pool.idleCount, pool.totalCount)
  })

  test('monitoring takes one connection once: each more costs as long as the server is away', async () => {
    await using billing = await openBilling(engine)
    const { database } = billing
    let taken = 0
    const count = () => (taken += 1)
    database.pool.on('acquire', count)
    const fail = (error: unknown) => assert.fail(String(error))
    await readGauges(database, ['fake'], fail)
    await readReadiness(database, ['fake'])
    database.pool.off('acquire', count)
    assert.equal(taken, 2)
  })
})
