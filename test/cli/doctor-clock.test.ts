import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { healthChecks } from '../../src/cli/doctor/check-health.ts'
import type { Installation } from '../../src/cli/doctor/installation.ts'
import { days, hours } from '../../src/kernel/duration.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { assertFinding } from './doctor.ts'

onPostgres((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  for (const [where, apart] of [
    ['behind', -days(3)],
    ['ahead', hours(1)],
  ] as const) {
    test(`doctor goes by the database's clock where its own is far ${where}`, async (t) => {
      const { database } = billing
      await sql`insert into billing.reviews (id, key, gateway, reason, created_at) values
        (gen_random_uuid(), ${where}, 'fake', 'amount_mismatch', now() - interval '2 days')`.execute(
        database.db,
      )
      await sql`insert into billing.counts (span, at, process, metric, gateway, label, value)
        select 'minute', date_trunc('minute', now()) - interval '1 minute', gen_random_uuid(),
          'callbacks_total', ${where}, label, 40 from unnest('{accepted,refused}'::text[]) as label`.execute(
        database.db,
      )
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + apart })
      const installation: Partial<Installation> = {
        checked: { fault: 'none is needed' },
        gateways: [],
        database: { kind: 'open', database },
      }
      const look = async (check: string) =>
        (await healthChecks[check]?.(installation as Installation)) ?? []
      const [review] = await look('review')
      assertFinding(review ?? assert.fail(), 'warning', /the oldest for 2 d /)
      const refused = (await look('callbacks')).find(({ found }) => found.startsWith(where))
      assertFinding(refused ?? assert.fail(), 'warning', /refuses 50 % of its callbacks/)
    })
  }
})
