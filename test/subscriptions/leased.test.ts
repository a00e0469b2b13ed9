import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { takeDueSubscriptions } from '../../src/queue/due-subscriptions.ts'
import { days } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { renewSubscriptions } from '../../src/money/renew-subscriptions.ts'
import { onPostgres, postgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { openSubscribing } from './subscribing.ts'

onPostgres(() => {
  test('a leased subscription whose row another look for due ones has locked is charged after it', async (t) => {
    const at = await openSubscribing(postgres)
    t.after(() => at.billing.close())
    const { db, pool } = at.billing.database
    await at.subscribe({ paymentMethodId: await at.card() })
    at.till.asked.length = 0
    at.pass(days(32))
    const [lease] = await takeDueSubscriptions(db, {
      managedBy: 'local',
      now: at.clock.now,
      ours: new Date(),
      limit: 1,
      token: newUuid(),
      except: [],
    })
    assert.ok(lease)
    // A look that began before the lease was committed finds it gone only once it has the lock.
    const other = await pool.connect()
    await other.query('begin')
    await other.query('select from billing.subscriptions for no key update')
    const [stepped] = renewSubscriptions([lease], at.context)
    await until(
      async () => {
        const { rows } = await sql`select from pg_locks where not granted
          and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(
          db,
        )
        return rows.length > 0
      },
      { what: 'the step waits for the row' },
    )
    await other.query('commit')
    other.release()
    assert.equal((await stepped)?.kind, 'charged')
    assert.equal(at.till.asked.length, 1)
  })
})
