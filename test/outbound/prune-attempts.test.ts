import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { deleteOldAttempts } from '../../src/database/forwards.ts'
import { days } from '../../src/kernel/duration.ts'
import { idAt, newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { prune } from '../../src/upkeep/prune.ts'
import { openBilling } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { insertEvent } from './events-in-feed.ts'

const old = 100_000

forEachDatabase((engine) => {
  test('100,000 old requests are pruned, newer ones and what can be resent stay (27)', async () => {
    await using billing = await openBilling(engine)
    const { database } = billing
    const { db } = database
    const endpoint = newUuid()
    const before = idAt(new Date(Date.now() - days(31))).slice(0, 24)
    await sql`insert into billing.forward_attempts
      (id, endpoint_id, event_id, attempt, result, duration_ms)
      select (${before} || lpad(to_hex(n), 12, '0'))::uuid, ${endpoint}::uuid, gen_random_uuid(), 1,
        'delivered', 5 from generate_series(1, ${old}::integer) as n`.execute(db)
    const kept = newUuid()
    await sql`insert into billing.forward_attempts
      (id, endpoint_id, event_id, attempt, result, duration_ms)
      values (${kept}::uuid, ${endpoint}::uuid, gen_random_uuid(), 1, 'delivered', 5)`.execute(db)
    for (const state of ['delivered', 'failed']) {
      const event = await insertEvent(db)
      await sql`insert into billing.forwards
        (endpoint_id, event_id, position, state, cause, attempts, updated_at)
        values (${endpoint}::uuid, ${event}::uuid, 1, ${state}, 'retry', 1,
          statement_timestamp() - interval '31 days')`.execute(db)
    }
    // One step takes no more than it is told to.
    assert.equal(await deleteOldAttempts(db, idAt(new Date(Date.now() - days(30))), 10), 10)
    const options = { retentionDays: 30, keepAttemptsDays: 30, newId: newUuid, log: silentLog }
    await prune(database, options)
    const attempts = await sql<{ id: string }>`
      select id from billing.forward_attempts`.execute(db)
    assert.deepEqual(attempts.rows, [{ id: kept }])
    const forwards = await sql<{ state: string }>`select state from billing.forwards`.execute(db)
    assert.deepEqual(forwards.rows, [{ state: 'failed' }])
  })
})
