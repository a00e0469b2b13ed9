import { sql, type Kysely } from 'kysely'
import { seconds, type Duration } from '../kernel/duration.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

/**
 * Each running worker has a row. Connections do not say how many run: a pooler keeps those of
 * workers that have ended.
 */

/** How often a worker has to say that it runs. */
export const presentEvery: Duration = seconds(5)
/** One that has been silent for this long, by the database's clock, is gone. */
const goneAfter: Duration = seconds(30)

const isGone = sql`seen_at < statement_timestamp() - ${interval(goneAfter)}`

export async function notePresent(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`
    insert into billing.workers (id, seen_at) values (${id}::uuid, statement_timestamp())
    on conflict (id) do update set seen_at = excluded.seen_at`.execute(db)
}

export async function forgetWorker(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`delete from billing.workers where id = ${id}::uuid`.execute(db)
}

/** Forgets workers that were killed. One that comes back at this moment is left alone. */
export async function forgetGone(db: Kysely<Tables>): Promise<void> {
  await sql`
    delete from billing.workers where id in (
      select id from billing.workers where ${isGone} for update skip locked
    )`.execute(db)
}

export async function countWorkers(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from billing.workers where not ${isGone}`.execute(db)
  return rows[0]?.count ?? 0
}
