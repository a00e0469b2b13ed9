import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { verifyUsage } from '../../bench/usage.ts'
import { openBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { sell } from '../usage/selling.ts'

onPostgres((engine) => {
  test('a figure of usage counts only if each subscription has counted its own records', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const ids = [
      await sell(core, { api_calls: { limit: null } }),
      await sell(core, { api_calls: { limit: null } }),
      await sell(core, { api_calls: { limit: null } }),
    ]
    const [one = '', other = ''] = ids
    for (const key of ['a', 'b', 'c']) {
      await core.usage.record({ subscriptionId: one, quota: 'api_calls', key })
    }
    await core.usage.record({ subscriptionId: other, quota: 'api_calls', key: 'a' })
    const library = { subject: 'library', counted: 4 } as const
    await verifyUsage(database, library)
    await assert.rejects(verifyUsage(database, { ...library, counted: 5 }))
    // The sum stays as it was.
    await sql`update billing.usage_counters set used = 4 - used where used > 0`.execute(database.db)
    await assert.rejects(verifyUsage(database, library), /"used":4,"keys":4,"wrong":2/)
    await sql`update billing.usage_counters set used = 4 - used where used > 0`.execute(database.db)
    await verifyUsage(database, library)
    await sql`delete from billing.usage_counters where subscription_id = ${other}::uuid`.execute(
      database.db,
    )
    await assert.rejects(verifyUsage(database, library), /"used":3,"keys":4,"wrong":1/)
  })
})
