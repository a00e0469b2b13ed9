import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { ListenerTransaction } from '../../../src/listeners/listener.ts'
import { prismaPool } from '../../../src/listeners/prisma.ts'
import { onPostgres } from '../../support/databases.ts'
import { callRow, notes, paying, useRoom } from '../processing/room.ts'

onPostgres(() => {
  const room = useRoom()
  const write = (db: Pick<pg.Pool, 'query'>, author: string) =>
    db.query('insert into notes (author, about) values ($1, $2)', [author, 'pooled'])
  const run = async (work: (pool: pg.Pool, tx: ListenerTransaction) => Promise<unknown>) => {
    const { leased } = await paying(room)
    room.on('PaymentSucceeded', (_event, { tx }) => work(new pg.Pool(prismaPool(tx)), tx))
    const end = await room.processOne(leased)
    return { end, exception: (await callRow(room, leased)).exception ?? '' }
  }

  test('a pool for Prisma writes in the listener’s transaction, and ends nothing', async () => {
    const { end } = await run(async (pool, tx) => {
      await write(pool, 'one')
      await pool.end()
      assert.equal((await tx.query('select from notes')).rowCount, 1)
    })
    assert.equal(end, 'done')
    assert.deepEqual(await notes(room), ['one pooled'])
  })

  test('its only connection is lent to one after the other', async () => {
    const { end } = await run(async (pool) => {
      const begun = await pool.connect()
      await begun.query('BEGIN')
      const waiting = write(pool, 'two')
      await write(begun, 'one')
      await begun.query('ROLLBACK')
      begun.release()
      await waiting
    })
    assert.equal(end, 'done')
    assert.deepEqual(await notes(room), ['two pooled'])
  })

  test('what the transaction refuses comes as a rejection', async () => {
    const { end, exception } = await run((pool) => pool.query('commit'))
    assert.equal(end, 'failed')
    assert.match(exception, /a listener tried to end its transaction: commit/)
  })
})
