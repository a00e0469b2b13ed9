import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { deleteOldAttempts, deleteOrphanForwards } from '../../src/database/forwards.ts'
import { days } from '../../src/kernel/duration.ts'
import { idAt, newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { prune } from '../../src/upkeep/prune.ts'
import { openBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { insertEvent } from './events-in-feed.ts'

const old = 100_000
/** As many in one statement as a slow machine writes in its time. */
const together = 5_000
const withKey = { billing: { encryptionKey: randomBytes(32).toString('base64') } }

onAnyDatabase((engine) => {
  test('100,000 old requests are pruned, newer ones and what can be resent stay (27)', async () => {
    await using billing = await openBilling(engine, withKey)
    const { database } = billing
    const { db } = database
    const url = 'http://127.0.0.1:9/hooks'
    const { endpoint } = await billing.core.endpoints.create({ name: 'shop', url })
    const gone = await billing.core.endpoints.create({ name: 'gone', url })
    const before = idAt(new Date(Date.now() - days(31))).slice(0, 24)
    for (let made = 0; made < old; made += together) {
      await sql`insert into billing.forward_attempts
        (id, endpoint_id, event_id, attempt, result, duration_ms)
        select (${before} || lpad(to_hex(n), 12, '0'))::uuid, ${endpoint.id}::uuid,
          gen_random_uuid(), 1, 'delivered', 5
        from generate_series(${made + 1}::integer, ${made + together}::integer) as n`.execute(db)
    }
    const kept = newUuid()
    await sql`insert into billing.forward_attempts
      (id, endpoint_id, event_id, attempt, result, duration_ms)
      values (${kept}::uuid, ${endpoint.id}::uuid, gen_random_uuid(), 1, 'delivered', 5)`.execute(
      db,
    )
    const rows = [
      [endpoint.id, 'delivered'],
      [endpoint.id, 'failed'],
      [gone.endpoint.id, 'failed'],
      [gone.endpoint.id, 'failed'],
    ] as const
    for (const [id, state] of rows) {
      const event = await insertEvent(db)
      await sql`insert into billing.forwards
        (endpoint_id, event_id, position, state, cause, attempts, updated_at)
        values (${id}::uuid, ${event}::uuid, 1, ${state}, 'retry', 1,
          statement_timestamp() - interval '31 days')`.execute(db)
    }
    await billing.core.endpoints.remove('gone')
    // Of one that is gone, too, a step takes no more than it is told to.
    assert.equal(await deleteOrphanForwards(db, 1), 1)
    // One step takes no more than it is told to.
    assert.equal(await deleteOldAttempts(db, idAt(new Date(Date.now() - days(30))), 10), 10)
    const options = { retentionDays: 30, keepAttemptsDays: 30, log: silentLog }
    await prune(database, options)
    const attempts = await sql<{ id: string }>`
      select id from billing.forward_attempts`.execute(db)
    assert.deepEqual(attempts.rows, [{ id: kept }])
    const forwards = await sql`select endpoint_id as id, state from billing.forwards`.execute(db)
    assert.deepEqual(forwards.rows, [{ id: endpoint.id, state: 'failed' }])
  })
})
