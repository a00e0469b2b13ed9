import { Cron } from 'croner'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { minutes } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import { interval } from './lease.ts'

export interface Schedule {
  readonly name: string
  /** A cron expression, in UTC. */
  readonly expression: string
  run(): Promise<void>
}

const runLimit = minutes(30)

/**
 * Runs the schedule if it is due and nobody else does: one leased row a schedule. The next run is
 * set only after this one has ended, so that a run cut short is taken up again.
 */
export async function runIfDue(
  db: Kysely<Tables>,
  schedule: Schedule,
  newId: NewId,
): Promise<'ran' | 'not_due'> {
  await ensureRow(db, schedule)
  const token = newId()
  const { numAffectedRows } = await sql`
    update billing.schedules
    set lease_token = ${token}::uuid, lease_until = clock_timestamp() + ${interval(runLimit)}
    where name = ${schedule.name} and next_run_at <= clock_timestamp()
      and (lease_until is null or lease_until < clock_timestamp())`.execute(db)
  if (numAffectedRows !== 1n) return 'not_due'
  try {
    await schedule.run()
    await finish(db, schedule, { token, error: null })
  } catch (error) {
    await finish(db, schedule, { token, error: String(error).slice(0, 1000) })
    throw error
  }
  return 'ran'
}

async function ensureRow(db: Kysely<Tables>, schedule: Schedule): Promise<void> {
  await sql`
    insert into billing.schedules (name, next_run_at)
    values (${schedule.name}, ${nextRun(schedule, await databaseNow(db))})
    on conflict (name) do nothing`.execute(db)
}

async function finish(
  db: Kysely<Tables>,
  schedule: Schedule,
  { token, error }: { readonly token: string; readonly error: string | null },
): Promise<void> {
  const next = nextRun(schedule, await databaseNow(db))
  await sql`
    update billing.schedules
    set next_run_at = ${next}, last_run_at = clock_timestamp(), last_error = ${error},
      lease_token = null, lease_until = null
    where name = ${schedule.name} and lease_token = ${token}::uuid`.execute(db)
}

function nextRun(schedule: Schedule, from: Date): Date {
  const next = new Cron(schedule.expression, { timezone: 'UTC' }).nextRun(from)
  if (next === null) throw new Error(`schedule ${schedule.name} never runs`)
  return next
}

async function databaseNow(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (now === undefined) throw new Error('the database does not know the time')
  return now
}
