import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { webhookCalls } from '../../../src/queue/calls.ts'
import { deferredEvents } from '../../../src/queue/deferred-events.ts'
import { deliveries } from '../../../src/queue/deliveries.ts'
import type { QueueRow } from '../../../src/leases/leased-table.ts'
import { extendLeases } from '../../../src/leases/leases.ts'
import { anyAlone, takeRows } from '../../../src/leases/queue-rows.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { idOf, nameOf } from '../outcomes/room.ts'
import { ahead, leased, leaseOf, otherToken, read, row, tables, taking, token } from './rows.ts'

const names = (rows: readonly QueueRow[]) => rows.map(({ id }) => nameOf(id)).toSorted()

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  test(
    'calls of gateways that are not known here are left, and make no worker run empty for them',
    rolledBack(async (db) => {
      await row(db, 'calls', { name: 'a', leases_lost: 1, gateway: 'removed' })
      await row(db, 'calls', { name: 'b', gateway: 'removed' })
      const alone = (gateways?: readonly string[]) => anyAlone(db, webhookCalls, gateways)
      assert.deepEqual([await alone(), await alone(['x']), await alone([])], [true, false, false])
      const take = (alone: boolean) =>
        takeRows(db, webhookCalls, taking({ gateways: ['x'], alone }))
      assert.deepEqual([...(await take(true)), ...(await take(false))], [])
      await row(db, 'calls', { name: 'c', leases_lost: 1 })
      assert.equal(await alone(['x']), true)
      assert.deepEqual(names(await take(true)), ['c'])
    }),
  )

  for (const table of ['calls', 'deliveries'] as const) {
    test(
      `due ${table} are leased for half a minute, the oldest first; all others are left`,
      rolledBack(async (db) => {
        const due = (ago: string) => ({ next_attempt_at: sql`now() - ${ago}::interval` })
        await row(db, table, { name: 'a', ...due('1 s') })
        await row(db, table, { name: 'b', ...due('3 s') })
        await row(db, table, { name: 'c', ...due('2 s'), attempts: 2, times_returned: 3 })
        await row(db, table, { name: 'd', ...due('-1 min') })
        await row(db, table, { name: 'e', ...leased(), lease_token: otherToken })
        await row(db, table, { name: 'f', ...due('4 s'), state: 'failed' })
        const taken = await takeRows(db, tables[table], taking({ limit: 2 }))
        assert.deepEqual(names(taken), ['b', 'c'])
        const {
          attempts,
          leases_lost,
          times_returned,
          token: by,
        } = taken.find(({ id }) => id === idOf('c')) ?? assert.fail()
        assert.deepEqual([attempts, leases_lost, times_returned, by], [2, 0, 3, token])
        assert.deepEqual(await read(db, table, `state; ${ahead('lease_until', 30)}`), [
          'a pending -',
          'b processing true',
          'c processing true',
          'd pending -',
          'e processing false',
          'f failed -',
        ])
        assert.deepEqual(names(await takeRows(db, tables[table], taking())), ['a'])
      }),
    )

    test(
      `no more ${table} are taken than asked for, whatever the planner believes of the table`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a' })
        await sql`analyze ${sql.table(tables[table].name)}`.execute(db)
        for (const name of ['b', 'c', 'd'] as const) await row(db, table, { name })
        assert.equal((await takeRows(db, tables[table], taking({ limit: 1 }))).length, 1)
        const states = await read(db, table, 'state')
        assert.equal(states.filter((state) => state.endsWith('processing')).length, 1)
      }),
    )

    test(
      `${table} that cost a worker its life are taken alone`,
      rolledBack(async (db) => {
        assert.equal(await anyAlone(db, tables[table]), false)
        await row(db, table, { name: 'a' })
        await row(db, table, {
          name: 'b',
          leases_lost: 1,
          next_attempt_at: sql`now() + interval '1 h'`,
        })
        await row(db, table, { name: 'c', leases_lost: 1, state: 'failed' })
        assert.equal(await anyAlone(db, tables[table]), false)
        await row(db, table, { name: 'd', leases_lost: 1 })
        assert.equal(await anyAlone(db, tables[table]), true)
        assert.deepEqual(names(await takeRows(db, tables[table], taking({ alone: true }))), ['d'])
        assert.deepEqual(names(await takeRows(db, tables[table], taking())), ['a'])
      }),
    )

    test(
      `${table} are taken of the named queues, or of all`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', queue: 'one' })
        await row(db, table, { name: 'b', queue: 'two' })
        await row(db, table, { name: 'c', queue: 'three' })
        const take = async (queues: readonly string[] | undefined) =>
          names(await takeRows(db, tables[table], taking({ queues })))
        assert.deepEqual(await take([]), [])
        assert.deepEqual(await take(['one', 'two']), ['a', 'b'])
        assert.deepEqual(await take(undefined), ['c'])
      }),
    )

    test(
      `${table} are left to whoever has every listener`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a' })
        await sql`insert into billing.listeners (name, event_types, queued)
          values ('mail', '{PaymentSucceeded,PaymentFailed}', false)`.execute(db)
        const take = async (...listeners: readonly string[]) =>
          names(await takeRows(db, tables[table], taking({ listeners })))
        assert.deepEqual(await take(), [])
        assert.deepEqual(await take('mail/PaymentSucceeded'), [])
        assert.deepEqual(await take('mail/PaymentSucceeded', 'mail/PaymentFailed'), ['a'])
      }),
    )

    test(
      `who works on ${table} keeps the leases that are his`,
      rolledBack(async (db) => {
        await row(db, table, { name: 'a', ...leased() })
        await row(db, table, { name: 'b', ...leased(), lease_token: otherToken })
        await row(db, table, { name: 'c', ...leased() })
        await extendLeases(db, tables[table], [leaseOf('a'), leaseOf('b')])
        assert.deepEqual(await read(db, table, ahead('lease_until', 30)), [
          'a true',
          'b false',
          'c false',
        ])
      }),
    )
  }

  test(
    'calls are taken of the named gateways, or of all',
    rolledBack(async (db) => {
      await row(db, 'calls', { name: 'a' })
      await row(db, 'calls', { name: 'b', gateway: 'y' })
      await row(db, 'calls', { name: 'c', gateway: 'z' })
      const take = async (gateways: readonly string[] | undefined) =>
        names(await takeRows(db, webhookCalls, taking({ gateways })))
      assert.deepEqual(await take([]), [])
      assert.deepEqual(await take(['x', 'y']), ['a', 'b'])
      assert.deepEqual(await take(undefined), ['c'])
    }),
  )

  test(
    'the bytes of a call are read only where its text does not carry them',
    rolledBack(async (db) => {
      const body = Buffer.from('bytes')
      await row(db, 'calls', { name: 'a', body })
      await row(db, 'calls', { name: 'b', body, body_encrypted: true })
      await row(db, 'calls', { name: 'c', body, kind: 'unreadable', payload: null })
      const taken = await takeRows(db, webhookCalls, taking())
      const read = taken.toSorted((one, other) => (one.id < other.id ? -1 : 1))
      assert.deepEqual(
        read.map(({ gateway, queue, kind, payload, body_encrypted: encrypted, body }) =>
          [gateway, queue, kind, payload, encrypted, body?.toString()].join(' '),
        ),
        [
          'x default json {} false ',
          'x default json {} true bytes',
          'x default unreadable  false bytes',
        ],
      )
    }),
  )

  test(
    'a deferred event of a type that a newer version has added is left to it',
    rolledBack(async (db) => {
      await row(db, 'deferred', { name: 'a', type: 'PaymentExpiring', leases_lost: 1 })
      assert.equal(await anyAlone(db, deferredEvents), false)
      await row(db, 'deferred', { name: 'b', type: 'PaymentExpiring' })
      await row(db, 'deferred', { name: 'c' })
      const taken = await takeRows(db, deferredEvents, taking())
      assert.deepEqual(
        taken.map(({ id }) => id),
        [idOf('c')],
      )
    }),
  )

  test(
    'a delivery says what is due to whom',
    rolledBack(async (db) => {
      await row(db, 'deliveries', { name: 'a' })
      const [delivery] = await takeRows(db, deliveries, taking())
      assert.deepEqual(delivery, {
        id: idOf('a'),
        token,
        attempts: 0,
        leases_lost: 0,
        times_returned: 0,
        event_id: idOf('a'),
        listener: 'queued',
      })
    }),
  )

  test(
    'a deferred event says what is claimed, and by what it came',
    rolledBack(async (db) => {
      await row(db, 'deferred', { name: 'a' })
      const [event] = await takeRows(db, deferredEvents, taking())
      assert.deepEqual(event, {
        id: idOf('a'),
        token,
        attempts: 0,
        leases_lost: 0,
        times_returned: 0,
        outbox: false,
        dedup_key: 'key a',
        type: 'PaymentFailed',
        payment_id: null,
        payment_method_id: null,
        subscription_id: null,
        invoice_id: null,
        data: null,
        webhook_call_id: null,
        cause: 'poll',
        queue: 'default',
      })
    }),
  )
})
