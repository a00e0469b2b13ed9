import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import { databaseNow } from '../database/now.ts'
import type { Tables } from '../database/tables.ts'
import { hours, minutes, type Duration } from '../kernel/duration.ts'
import { textOf } from '../kernel/exception-text.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Lease, TimedTable } from '../leases/leased-table.ts'
import { endLeases, takeDue } from '../leases/leases.ts'

export interface Schedule {
  readonly name: string
  /** How often: at multiples of this, counted from midnight in UTC. */
  readonly every: Duration
  /** How long after those; at them by default. */
  readonly offset?: Duration
  /** When it is retried after a failure; in an hour by default. */
  readonly retryAfter?: Duration
  /** `lastRunAt`: when the last completed run began. */
  run(signal: AbortSignal, lastRunAt: Date | undefined): Promise<void>
}

export interface RunOptions {
  readonly newId: NewId
  readonly signal: AbortSignal
  /** Blanks out known secrets in what is stored of a failure. */
  scrub(text: string): string
}

interface LeasedSchedule extends Lease {
  readonly last_run_at: Date | null
  readonly lease_until: Date
}

const schedules: TimedTable<LeasedSchedule, string> = {
  name: 'billing.schedules',
  key: 'name',
  length: minutes(30),
  columns: sql`row.last_run_at, row.lease_until`,
  due: (name) => sql`name = ${name} and next_run_at <= statement_timestamp()`,
}

const usualRetryAfter = hours(1)

/**
 * Runs the schedule if it is due and nobody else runs it: one leased row per schedule. The next run
 * is set only after this one has ended, so that a run cut short is resumed.
 */
export async function runIfDue(
  db: Kysely<Tables>,
  schedule: Schedule,
  { newId, signal, scrub }: RunOptions,
): Promise<'ran' | 'stopped' | 'not_due'> {
  await ensureRow(db, schedule)
  const [begun] = await takeDue(db, schedules, { asked: schedule.name, limit: 1, token: newId() })
  if (begun === undefined) return 'not_due'
  const begunAt = new Date(begun.lease_until.getTime() - schedules.length)
  const finish = (nextRunAt: RawBuilder<unknown>, error: string | null) => {
    const lastRunAt = error === null ? begunAt : begun.last_run_at
    const set = sql`next_run_at = ${nextRunAt}, last_error = ${error}, last_run_at = ${lastRunAt}`
    return endLeases(db, schedules, { leases: [begun], set })
  }
  try {
    await schedule.run(signal, begun.last_run_at ?? undefined)
  } catch (error) {
    if (signal.aborted) {
      // Still due: the next process that looks goes on with it.
      await finish(sql`next_run_at`, 'stopped before its end')
      return 'stopped'
    }
    const { retryAfter = usualRetryAfter } = schedule
    const said = scrub(textOf(error)).slice(0, 1000)
    await finish(sql`statement_timestamp() + ${interval(retryAfter)}`, said)
    throw error
  }
  await finish(sql`${nextRun(schedule, await databaseNow(db))}`, null)
  return 'ran'
}

async function ensureRow(db: Kysely<Tables>, schedule: Schedule): Promise<void> {
  await sql`
    insert into billing.schedules (name, next_run_at)
    values (${schedule.name}, ${nextRun(schedule, await databaseNow(db))})
    on conflict (name) do nothing`.execute(db)
}

/** The first time of the schedule after this one. */
export function nextRun(
  { every, offset = 0 }: Pick<Schedule, 'every' | 'offset'>,
  from: Date,
): Date {
  // All days in UTC have the same length, and the epoch is a midnight.
  const passed = Math.floor((from.getTime() - offset) / every)
  return new Date((passed + 1) * every + offset)
}
