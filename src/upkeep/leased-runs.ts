import { sql, type Kysely } from 'kysely'
import { interval } from '../database/interval.ts'
import type { RunRow } from '../database/runs.ts'
import type { Tables } from '../database/tables.ts'
import { days, seconds } from '../kernel/duration.ts'
import type { Lease, TimedTable } from '../leases/leased-table.ts'
import { endLeases, isFree, keepLease, takeDue } from '../leases/leases.ts'

/** How long until it is looked again what became of the items of a run. */
const looksEvery = seconds(5)
/** Nothing is retried for longer. */
const looksFor = days(7)

const runs: TimedTable<Lease, undefined> = {
  name: 'billing.runs',
  length: seconds(30),
  due: () => sql`
    (state in ('running', 'stopping')
      or (ended < done and looked_at < statement_timestamp() - ${interval(looksEvery)}
        and created_at > statement_timestamp() - ${interval(looksFor)}))
    order by looked_at`,
}

/** Leases the run that has waited for longest; undefined: none has anything to do now. */
export async function takeRun(db: Kysely<Tables>, token: string): Promise<Lease | undefined> {
  return (await takeDue(db, runs, { asked: undefined, limit: 1, token }))[0]
}

/** The row, locked for a batch, and leased for longer; undefined: another has the run. */
export function lockRun(db: Kysely<Tables>, lease: Lease): Promise<RunRow | undefined> {
  return keepLease(db, runs, { lease, returning: sql<RunRow>`row.*` })
}

/** Others may go on with it. */
export async function releaseRun(db: Kysely<Tables>, lease: Lease): Promise<void> {
  await endLeases(db, runs, { leases: [lease], set: sql`looked_at = statement_timestamp()` })
}

/** A batch that is under way is waited for; where nobody is at the run, it ends here. */
export async function stopRun(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`update billing.runs set state = 'stopping'
    where id = ${id}::uuid and state = 'running'`.execute(db)
  await sql`update billing.runs set state = 'stopped', finished_at = statement_timestamp()
    where id = ${id}::uuid and state = 'stopping' and ${isFree}`.execute(db)
}
