import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { sql } from 'kysely'
import { findSubscription } from '../../src/database/subscriptions.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import { applyReport } from '../../src/processing/apply-report.ts'
import { runDueSyncs } from '../../src/upkeep/run-syncs.ts'
import { onAnyDatabase, postgres, type TestEngine } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { startProcess } from '../support/process.ts'
import { begins, monthFrom } from './managing.ts'
import { newSubscription } from './subscribing.ts'
import { openSyncing, type SyncCut, type Syncing } from './syncing-program.ts'

const file = fileURLToPath(new URL('syncing-program.ts', import.meta.url))

async function place(engine: TestEngine) {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    return { database: { url }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  return { database: { dataDir }, remove: async () => remove() }
}

onAnyDatabase((engine) => {
  test('killed between the answer and the last commit, a process leaves one grant and loses nothing (case 43)', async () => {
    const start = new Date(Math.ceil(Date.now() / 1000) * 1000)
    const second = monthFrom(monthFrom(start).endsAt)
    const cuts: SyncCut[] = ['read']
    // To start the embedded database takes seconds.
    const most = engine === postgres ? 6 : 2
    for (let commit = 1; commit <= most; commit += 1) cuts.push(`commit:${commit}`)
    let reached = 0
    for (const cut of cuts) {
      const { database, remove } = await place(engine)
      const syncing: Syncing = {
        database,
        now: second.startsAt.toISOString(),
        startsAt: second.startsAt.toISOString(),
        cut: 'none',
      }
      // One that is paid for its first month.
      const opened = await openSyncing({ ...syncing, now: start.toISOString() })
      const input = newSubscription({ managedBy: 'provider', gateway: 'managing', id: newUuid() })
      const { payment } = await createSubscription(input, '{}', opened.context)
      assert.ok(payment)
      const outcomes = [begins(payment, 'sub_1', { period: monthFrom(start) })]
      const report = { gateway: 'managing', outcomes, cause: 'poll', queue: 'default' } as const
      await applyReport(report, opened.context.processing)
      await opened.close()

      const env = { SYNCING: JSON.stringify({ ...syncing, cut }) }
      const { signal, stdout, stderr } = await startProcess([], { file, env }).ended
      const left = await openSyncing(syncing)
      const { db } = left.database
      if (signal === 'SIGKILL') {
        reached += 1
        // Nobody has it until its lease has ended by itself.
        assert.equal((await runDueSyncs(left.context)).steps, 0, cut)
        await sql`update billing.subscriptions
          set lease_until = lease_until - interval '2 minutes'`.execute(db)
        assert.equal((await runDueSyncs(left.context)).steps, 1, cut)
      } else assert.match(stdout.join(), /done 1/, stderr.join('\n'))
      const state = await findSubscription(db, input.id)
      assert.deepEqual([state?.paidUntil, state?.cancelAt], [second.endsAt, second.endsAt], cut)
      const { rows } = await sql<{ type: string }>`
        select type from billing.deferred_events
        where subscription_id = ${input.id}::uuid order by event_number`.execute(db)
      assert.deepEqual(
        rows.map(({ type }) => type),
        ['SubscriptionCreated', 'SubscriptionRenewed', 'SubscriptionRenewed'],
        cut,
      )
      await left.close()
      await remove()
      if (signal !== 'SIGKILL') break
    }
    assert.ok(reached >= 3, `${reached} cuts were reached`)
  })
})
