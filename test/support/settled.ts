import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { sweepAwaiting } from '../../src/upkeep/sweep.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { idle, type TestBilling } from './billing.ts'
import { until } from './until.ts'

type Working = Pick<TestBilling, 'core' | 'database' | 'runtime'>

/** Wakes the workers, which look by themselves every few seconds. */
async function wake({ runtime }: Working): Promise<void> {
  const { processing } = await runtime.context()
  processing.wake()
}

/** Until the workers have no call in work, and no provider to ask. */
export async function quiet(billing: Working): Promise<void> {
  const { core, database } = billing
  const isSynced = async () => {
    await wake(billing)
    const { rows } = await sql`select from billing.subscriptions
      where managed_by = 'provider'
        and (lease_until > statement_timestamp() or next_action_at <= statement_timestamp())
      limit 1`.execute(database.db)
    return rows.length === 0
  }
  await wake(billing)
  await idle(core)
  await until(isSynced, { what: 'the provider was asked' })
}

/**
 * Until nothing waits any more: what came too early is processed too, and all events are told.
 * `also` does what workers leave, and says whether there was anything.
 */
export async function settled(
  billing: Working,
  also: () => Promise<boolean> = async () => false,
): Promise<void> {
  const { database } = billing
  let sweeps = 0
  do {
    sweeps += 1
    // What waits and does not know for what would come back for ever.
    assert.ok(sweeps < 20, 'a call comes back again and again')
    await quiet(billing)
    while (await also()) await quiet(billing)
  } while ((await sweepAwaiting(database, silentLog)) > 0)
  await until(
    async () => {
      await wake(billing)
      const { rows } = await sql`
        select from billing.deliveries where state in ('pending', 'processing')
        union all select from billing.deferred_events where state in ('pending', 'processing')
        limit 1`.execute(database.db)
      return rows.length === 0
    },
    { what: 'all events are told' },
  )
}
