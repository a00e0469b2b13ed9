import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { minutes, seconds } from '../../../src/kernel/duration.ts'
import {
  expireRows,
  failRow,
  finishRows,
  postponeRow,
  releaseRows,
  returnRow,
} from '../../../src/leases/queue-rows.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { counting, idOf } from '../outcomes/room.ts'
import { ahead, leased, leaseOf, otherToken, read, row, tables } from './rows.ts'

const came = { calls: 'received_at', deliveries: 'created_at' } as const
/** What says that nobody holds a row. */
const free = 'lease_token; lease_until'

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  for (const table of ['calls', 'deliveries'] as const) {
    test(
      `${table} are finished together, by their leases: whose lease is lost is said`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased(), exception: 'once' })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        await row(db, table, { name: 'c', ...leased() })
        const leases = [leaseOf('a'), leaseOf('b')]
        assert.deepEqual(await finishRows(db, tables[table], { leases }), [leaseOf('b')])
        const shown = `state; exception; ${free}; processed_at is not null`
        assert.deepEqual((await read(db, table, shown))[0], 'a processed - - - true')
        assert.deepEqual(await read(db, table, 'state; processed_at'), [
          (await read(db, table, 'state; processed_at'))[0],
          'b processing -',
          'c processing -',
        ])
      }),
    )

    test(
      `${table} that are released are as if nobody had held them`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased(), attempts: 1 })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        await row(db, table, { name: 'c', ...leased() })
        await releaseRows(db, tables[table], [leaseOf('a'), leaseOf('b')])
        assert.deepEqual(await read(db, table, 'state; attempts; times_returned; lease_token'), [
          'a pending 1 0 -',
          `b processing 0 0 ${otherToken}`,
          `c processing 0 0 ${leaseOf('c').token}`,
        ])
      }),
    )

    test(
      `one of the ${table} that is returned has used no attempt, and waits`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased(), attempts: 1, times_returned: 4 })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        const after = seconds(20)
        assert.equal(await returnRow(db, tables[table], { lease: leaseOf('a'), after }), true)
        assert.equal(await returnRow(db, tables[table], { lease: leaseOf('b'), after }), false)
        const due = ahead('next_attempt_at', 20)
        assert.deepEqual(await read(db, table, `state; attempts; times_returned; ${due}`), [
          'a pending 1 5 true',
          'b processing 0 0 false',
        ])
      }),
    )

    for (const [age, pause] of [
      ['2 s', 10],
      ['5 min', 300],
      ['20 min', 600],
    ] as const) {
      test(
        `one of the ${table} that came ${age} ago is postponed for ${pause} s`,
        rolledBack(async (db) => {
          const ago = { [came[table]]: sql`clock_timestamp() - ${age}::interval` }
          await row(db, table, { name: 'a', ...leased(), ...ago, attempts: 1 })
          const wait = await postponeRow(db, tables[table], {
            lease: leaseOf('a'),
            patience: minutes(60),
            exception: 'provider is away',
          })
          assert.ok(wait !== undefined && Math.abs(wait / 1000 - pause) < 10, `${wait}`)
          const due = ahead('next_attempt_at', pause + 4)
          const shown = `state; attempts; times_returned; exception; ${due}; ${free}`
          assert.deepEqual(await read(db, table, shown), [
            'a pending 1 0 provider is away true - -',
          ])
        }),
      )
    }

    test(
      `one of the ${table} is not postponed beyond patience, nor by whoever has lost it`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased() })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        const postpone = (name: 'a' | 'b', patience: number) =>
          postponeRow(db, tables[table], { lease: leaseOf(name), patience, exception: 'away' })
        assert.equal(await postpone('a', seconds(30)), undefined)
        assert.equal(await postpone('b', minutes(60)), undefined)
        assert.deepEqual(await read(db, table, 'state; exception'), [
          'a processing -',
          'b processing -',
        ])
      }),
    )

    test(
      `a failed attempt at one of the ${table} counts, and the next one is due`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased(), attempts: 1 })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        const failed = { after: seconds(60), exception: 'no stock' }
        assert.equal(await failRow(db, tables[table], { lease: leaseOf('a'), ...failed }), true)
        assert.equal(await failRow(db, tables[table], { lease: leaseOf('b'), ...failed }), false)
        const due = ahead('next_attempt_at', 60)
        const shown = `state; attempts; exception; ${due}; processed_at; ${free}`
        const [a, b] = await read(db, table, shown)
        assert.equal(a, 'a pending 2 no stock true - - -')
        assert.match(b ?? '', /^b processing 0 - false - /)
      }),
    )

    test(
      `one of the ${table} whose attempts are used up has failed`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased(), attempts: 2 })
        const failed = { lease: leaseOf('a'), after: undefined, exception: 'no stock' }
        assert.equal(await failRow(db, tables[table], failed), true)
        const shown = `state; attempts; exception; processed_at is not null; ${free}`
        assert.deepEqual(await read(db, table, shown), ['a failed 3 no stock true - -'])
      }),
    )

    test(
      `${table} whose worker is gone come back; what has cost ten of them their lives is given up`,
      rolledBack(async (db) => {
        const gone = leased(sql`now() - interval '1 s'`)
        await row(db, table, { name: 'a', ...gone, exception: 'before' })
        await row(db, table, { name: 'b', ...gone, leases_lost: 8 })
        await row(db, table, { name: 'c', ...gone, leases_lost: 9 })
        await row(db, table, { name: 'd', ...leased() })
        assert.deepEqual(await expireRows(db, tables[table]), { requeued: 2, failed: [idOf('c')] })
        const shown =
          'state; leases_lost; attempts; exception; processed_at is not null; lease_token is null'
        assert.deepEqual(await read(db, table, shown), [
          'a pending 1 0 before false true',
          'b pending 9 0 - false true',
          'c failed 10 0 worker lost: 10 workers died while they held this row true true',
          'd processing 0 0 - false false',
        ])
        assert.deepEqual(await expireRows(db, tables[table]), { requeued: 0, failed: [] })
      }),
    )
  }

  test(
    'what else a call ends with is written with it, each its own',
    rolledBack(async (db) => {
      await row(db, 'calls', { name: 'a', ...leased() })
      await row(db, 'calls', { name: 'b', ...leased() })
      await finishRows(db, tables.calls, {
        leases: [leaseOf('a'), leaseOf('b')],
        columns: {
          state: { type: 'text', values: ['ignored', 'processed'] },
          needs_review: { type: 'boolean', values: [true, false] },
          awaiting: { type: 'text', values: ['id:1', null] },
        },
      })
      assert.deepEqual(await read(db, 'calls', 'state; needs_review; awaiting'), [
        'a ignored true id:1',
        'b processed false -',
      ])
    }),
  )

  for (const [what, given, marked] of [
    ['is tried again', { after: seconds(10) }, false],
    ['is tried again, and whose result needs a person', { after: seconds(10), review: true }, true],
    ['has failed', { after: undefined }, true],
    ['has failed, whatever its result was', { after: undefined, review: false }, true],
  ] as const) {
    test(
      `a call that ${what} is ${marked ? '' : 'not '}marked for a person; one that was marked stays so`,
      rolledBack(async (db) => {
        await row(db, 'calls', { name: 'a', ...leased() })
        await row(db, 'calls', { name: 'b', ...leased(), needs_review: true })
        for (const name of ['a', 'b'] as const) {
          await failRow(db, tables.calls, { lease: leaseOf(name), exception: 'no', ...given })
        }
        assert.deepEqual(await read(db, 'calls', 'needs_review'), [`a ${marked}`, 'b true'])
      }),
    )
  }

  test(
    'a failed attempt keeps what is known by then',
    rolledBack(async (db) => {
      await row(db, 'calls', { name: 'a', ...leased() })
      const columns = { awaiting: 'id:1', awaiting_also: 'id:2' }
      const failed = { after: seconds(10), exception: 'no', columns }
      await failRow(db, tables.calls, { lease: leaseOf('a'), ...failed })
      assert.deepEqual(await read(db, 'calls', 'awaiting; awaiting_also'), ['a id:1 id:2'])
    }),
  )

  test(
    'a call that is given up with its workers is marked for a person; one that comes back is not',
    rolledBack(async (db) => {
      const gone = leased(sql`now() - interval '1 s'`)
      await row(db, 'calls', { name: 'a', ...gone, leases_lost: 9 })
      await row(db, 'calls', { name: 'b', ...gone })
      await row(db, 'calls', { name: 'c', ...gone, needs_review: true })
      await expireRows(db, tables.calls)
      assert.deepEqual(await read(db, 'calls', 'needs_review'), ['a true', 'b false', 'c true'])
    }),
  )

  test(
    'to end nothing costs nothing',
    rolledBack(async (db) => {
      const counted = counting(db)
      assert.deepEqual(await finishRows(counted.db, tables.calls, { leases: [] }), [])
      await releaseRows(counted.db, tables.calls, [])
      assert.equal(counted.statements(), 0)
    }),
  )
})
