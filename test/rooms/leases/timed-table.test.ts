import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { minutes } from '../../../src/kernel/duration.ts'
import type { Lease, TimedTable } from '../../../src/leases/leased-table.ts'
import { endLeases, extendLeases, keepLease, takeDue } from '../../../src/leases/leases.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { ahead, otherToken, token } from './rows.ts'

interface Guard extends Lease {
  readonly place: string
}

/** A table that nothing else knows of: its rows have names, and are due by a time. */
const guards: TimedTable<Guard, string> = {
  name: 'guards',
  key: 'name',
  length: minutes(2),
  columns: sql`row.place`,
  due: (place) => sql`place = ${place} and due_at <= now() order by due_at desc`,
  taking: sql`asked = false`,
}

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  /** Guards of the gate, named in the order in which they fell due; all of them are asked for. */
  const withGuards = (names: readonly string[], work: (db: Kysely<Tables>) => Promise<void>) =>
    rolledBack(async (db) => {
      await sql`create table guards (name text primary key, place text default 'gate',
        due_at timestamptz, asked boolean default true, sung int default 0,
        lease_token uuid, lease_until timestamptz)`.execute(db)
      for (const [index, name] of names.entries()) await add(db, name, names.length - index)
      await work(db)
    })
  const add = (db: Kysely<Tables>, name: string, dueFor: number) =>
    sql`insert into guards (name, due_at)
      values (${name}, now() - make_interval(secs => ${dueFor}))`.execute(db)
  const take = async (db: Kysely<Tables>, { limit = 1, by = token, at = 'gate' } = {}) =>
    (await takeDue(db, guards, { asked: at, limit, token: by })).map(({ id }) => id)
  const shown = async (db: Kysely<Tables>, expression: string) => {
    const { rows } = await sql<{ text: string }>`
      select concat_ws(' ', name, ${sql.raw(expression)}) as text
      from guards order by name`.execute(db)
    return rows.map(({ text }) => text)
  }
  const runOut = (db: Kysely<Tables>) =>
    sql`update guards set lease_until = now() - interval '1 s'`.execute(db)

  test(
    'what is due is leased in its order, and read; what is held is left until its lease has run out',
    withGuards(['a', 'b', 'c'], async (db) => {
      await add(db, 'd', -60)
      const [first] = await takeDue(db, guards, { asked: 'gate', limit: 1, token })
      assert.deepEqual(first, { id: 'c', token, place: 'gate' })
      assert.deepEqual(await take(db, { at: 'wall', limit: 9 }), [])
      assert.deepEqual(await take(db, { by: otherToken, limit: 9 }), ['b', 'a'])
      assert.deepEqual(await shown(db, `asked, ${ahead('lease_until', 120)}`), [
        'a f t',
        'b f t',
        'c f t',
        'd t',
      ])
      await runOut(db)
      assert.deepEqual(await take(db, { by: otherToken }), ['c'])
    }),
  )

  test(
    'no more is leased than was asked for, whatever the planner believes of the table',
    withGuards(['a'], async (db) => {
      await sql`analyze guards`.execute(db)
      for (const name of ['b', 'c', 'd']) await add(db, name, 1)
      assert.equal((await take(db)).length, 1)
      assert.equal((await shown(db, 'lease_token')).filter((row) => row.includes('-')).length, 1)
    }),
  )

  test(
    'whoever holds a lease extends it, writes what it knows by now, and ends it; nobody else does',
    withGuards(['a', 'b', 'c'], async (db) => {
      await take(db, { limit: 2 })
      await take(db, { by: otherToken })
      await runOut(db)
      const leases = ['a', 'b', 'c'].map((id) => ({ id, token }))
      const [lost, mine, last] = leases as [Lease, Lease, Lease]

      await extendLeases(db, guards, [lost, last])
      const kept = (lease: Lease, isStill = sql`place = 'gate'`) => {
        const set = sql`sung = sung + 1`
        return keepLease(db, guards, { lease, set, isStill, returning: sql`row.sung` })
      }
      assert.deepEqual(
        [await kept(lost), await kept(mine, sql`not asked and false`), await kept(mine)],
        [undefined, undefined, { sung: 1 }],
      )
      const held = `sung, ${ahead('lease_until', 120)}`
      assert.deepEqual(await shown(db, held), ['a 0 f', 'b 1 t', 'c 0 t'])

      const set = sql`sung = row.sung + 10`
      const end = (isStill = sql`true`) =>
        endLeases<{ sung: number }>(db, guards, {
          leases,
          set,
          isStill,
          returning: sql`row.sung`,
        })
      assert.deepEqual(await end(sql`sung > 0`), [{ id: 'b', sung: 11 }])
      assert.deepEqual(await end(), [{ id: 'c', sung: 10 }])
      assert.deepEqual(await shown(db, 'lease_token'), [`a ${otherToken}`, 'b', 'c'])
    }),
  )
})
