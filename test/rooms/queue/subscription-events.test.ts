import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { deferredEvents, outboxEvents } from '../../../src/queue/deferred-events.ts'
import { extendLeases } from '../../../src/leases/leases.ts'
import {
  anyAlone,
  asNew,
  expireRows,
  failRow,
  finishRows,
  releaseRows,
  returnRow,
  takeRows,
} from '../../../src/leases/queue-rows.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { fire, insertSubscription } from '../../support/subscription-rows.ts'
import { taking } from '../leases/rows.ts'

const resumed = { type: 'SubscriptionResumed', data: {} } as const

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  const take = async (db: Kysely<Tables>, options = {}) => {
    const asked = taking({ token: newUuid(), ...options })
    const rows = await takeRows(db, outboxEvents, asked)
    return rows.map((row) => ({ row, number: Number(row.dedup_key.split('/').at(-1)) }))
  }
  /** What is taken when only one subscription has events. */
  const takeOne = async (db: Kysely<Tables>, options = {}) => {
    const [one, ...others] = await take(db, options)
    assert.deepEqual(others, [])
    return one
  }
  const mustTake = async (db: Kysely<Tables>, number: number, options = {}) => {
    const taken = (await takeOne(db, options)) ?? assert.fail('nothing is due')
    assert.equal(taken.number, number)
    return taken.row
  }
  const nothingIsDue = async (db: Kysely<Tables>, options = {}) =>
    assert.deepEqual(await take(db, options), [])
  const due = (db: Kysely<Tables>) =>
    sql`update billing.deferred_events set next_attempt_at = now() where state = 'pending'`.execute(
      db,
    )
  const oneWith = async (db: Kysely<Tables>, events: number) => {
    const id = await insertSubscription(db)
    await fire(
      db,
      id,
      Array.from({ length: events }, () => resumed),
    )
    await due(db)
    return id
  }

  test(
    'events of a subscription are taken one after the other, in the order of their numbers',
    rolledBack(async (db) => {
      await oneWith(db, 3)
      // In which order they fall due means nothing.
      await sql`update billing.deferred_events
        set next_attempt_at = now() - make_interval(secs => event_number)`.execute(db)
      for (const number of [1, 2, 3]) {
        const row = await mustTake(db, number)
        await nothingIsDue(db)
        assert.deepEqual(await finishRows(db, outboxEvents, { leases: [row] }), [])
      }
      await nothingIsDue(db)
    }),
  )

  test(
    'those of another subscription do not wait for them',
    rolledBack(async (db) => {
      await oneWith(db, 2)
      await oneWith(db, 2)
      assert.deepEqual(
        (await take(db)).map(({ number }) => number),
        [1, 1],
      )
    }),
  )

  test(
    'one that waits for its next attempt, was returned or released holds up those behind it',
    rolledBack(async (db) => {
      await oneWith(db, 2)
      const lease = await mustTake(db, 1)
      const failed = { lease, after: 60_000, exception: 'thrown' }
      assert.equal(await failRow(db, outboxEvents, failed), true)
      await nothingIsDue(db)

      await due(db)
      const again = await mustTake(db, 1)
      assert.equal(await returnRow(db, outboxEvents, { lease: again, after: 60_000 }), true)
      await nothingIsDue(db)

      await due(db)
      await due(db)
      await releaseRows(db, outboxEvents, [await mustTake(db, 1)])
      await mustTake(db, 1)
      await nothingIsDue(db)
    }),
  )

  test(
    'one whose worker died is taken again, alone, before those behind it; its old lease is nothing',
    rolledBack(async (db) => {
      await oneWith(db, 2)
      const lost = await mustTake(db, 1)
      await extendLeases(db, outboxEvents, [lost])
      assert.deepEqual(await expireRows(db, outboxEvents), { requeued: 0, failed: [] })
      await sql`update billing.deferred_events set lease_until = now() - interval '1 s'
        where state = 'processing'`.execute(db)
      assert.deepEqual(await expireRows(db, outboxEvents), { requeued: 1, failed: [] })
      await due(db)
      assert.equal(await anyAlone(db, outboxEvents), true)
      await nothingIsDue(db)
      const row = await mustTake(db, 1, { alone: true })
      assert.deepEqual(await finishRows(db, outboxEvents, { leases: [lost] }), [lost])
      await nothingIsDue(db)
      assert.deepEqual(await finishRows(db, outboxEvents, { leases: [row] }), [])
      await mustTake(db, 2)
    }),
  )

  test(
    'one that has failed for good blocks nothing; a replay brings it back as what it was',
    rolledBack(async (db) => {
      await oneWith(db, 2)
      const lease = await mustTake(db, 1)
      await failRow(db, outboxEvents, { lease, after: undefined, exception: 'thrown' })
      const next = await mustTake(db, 2)
      await finishRows(db, outboxEvents, { leases: [next] })
      await sql`update billing.deferred_events set ${asNew} where state = 'failed'`.execute(db)
      await due(db)
      await mustTake(db, 1)
    }),
  )

  test(
    'a type that a newer version has added is left to it, and those behind it wait',
    rolledBack(async (db) => {
      await oneWith(db, 2)
      await sql`update billing.deferred_events set type = 'SubscriptionGifted'
        where event_number = 1`.execute(db)
      await nothingIsDue(db)
    }),
  )

  test(
    'a key fires once for ever: written again, it stays as it is, whatever has become of it',
    rolledBack(async (db) => {
      const id = await oneWith(db, 1)
      const again = async () => {
        await sql`update billing.subscriptions set event_number = 0`.execute(db)
        await fire(db, id, [resumed])
        await due(db)
      }
      await again()
      const row = await mustTake(db, 1)
      await again()
      await nothingIsDue(db)
      await finishRows(db, outboxEvents, { leases: [row] })
      await again()
      await nothingIsDue(db)
    }),
  )

  test(
    'other deferred events are taken apart from them',
    rolledBack(async (db) => {
      await oneWith(db, 1)
      const key = newUuid()
      const plain = { queue: 'default', dedup_key: key, type: 'PaymentFailed' } as const
      const values = {
        id: newUuid(),
        cause: 'poll' as const,
        next_attempt_at: new Date(0),
        ...plain,
      }
      await db.insertInto('billing.deferred_events').values(values).execute()
      const rows = await takeRows(db, deferredEvents, taking())
      assert.deepEqual(
        rows.map(({ dedup_key }) => dedup_key),
        [key],
      )
      await mustTake(db, 1)
    }),
  )

  test(
    'whether another waits before it is looked up in an index, however many have ended',
    rolledBack(async (db) => {
      const id = await oneWith(db, 1)
      await sql`insert into billing.deferred_events
          (id, queue, dedup_key, type, cause, subscription_id, event_number, state,
          data)
        select gen_random_uuid(), 'default', 'k' || n, 'SubscriptionResumed', 'poll',
          case when n % 2 = 0 then ${id}::uuid else gen_random_uuid() end, n + 1,
          case when n % 20 = 1 then 'pending' else 'processed' end, '{}'
        from generate_series(1, 20000) as n`.execute(db)
      await sql`analyze billing.deferred_events`.execute(db)
      const { rows } = await sql<Record<string, string>>`
        explain select id from billing.deferred_events as due
        where state = 'pending' and next_attempt_at <= now() and leases_lost = 0
          and ${outboxEvents.kind} and ${outboxEvents.isNext}
        order by next_attempt_at, id limit 16 for update skip locked`.execute(db)
      const plan = rows.flatMap((row) => Object.values(row)).join('\n')
      assert.match(plan, /Index Scan using deferred_events_pending/)
      assert.match(plan, /Index Scan using deferred_events_subscription/)
      assert.doesNotMatch(plan, /Seq Scan/)
    }),
  )
})
