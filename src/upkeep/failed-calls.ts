import { sql, type RawBuilder } from 'kysely'
import { requeued } from '../outcomes/waiting-calls.ts'
import type { RunFilter } from '../wire/run.ts'
import { mostCounted, saysFirst, type FailedRow, type FailedRows } from './failed-rows.ts'

/** What an index finds; the rest of the filter is looked at row by row. */
function callIsWithin({ since, until }: RunFilter): RawBuilder<unknown> {
  return sql`call.state = 'failed'
    ${since === null ? sql`` : sql`and call.received_at >= ${since}`}
    ${until === null ? sql`` : sql`and call.received_at < ${until}`}`
}

/** A listener has failed a call if the exception that the call ended with is its own. */
function callMatches({ gateway, listener, exception }: RunFilter): RawBuilder<boolean> {
  const said = sql.ref('call.exception')
  const failedBy = sql`exists (
    select from billing.failed_attempts as attempt
    where attempt.call_id = call.id and attempt.listener = ${listener}
      and attempt.exception = call.exception)`
  return sql`(true
    ${gateway === null ? sql`` : sql`and call.gateway = ${gateway}`}
    ${exception === null ? sql`` : sql`and ${saysFirst(said, exception)}`}
    ${listener === null ? sql`` : sql`and ${failedBy}`})`
}

/** Calls, the oldest first, as a run replays them; what another process holds is waited for. */
export const callRows: FailedRows = {
  async count(db, filter) {
    const { rows } = await sql<{ count: number; seen: number }>`
      select (count(*) filter (where matches))::int as count, count(*)::int as seen from (
        select ${callMatches(filter)} is true as matches from billing.webhook_calls as call
        where ${callIsWithin(filter)} order by call.received_at, call.id limit ${mostCounted}
      ) as looked`.execute(db)
    const { count = 0, seen = 0 } = rows[0] ?? {}
    return { count, isLeast: seen === mostCounted }
  },
  async next(db, filter, { before, after, limit }) {
    const isBehind =
      after && sql`and (call.received_at, call.id) > (${after.at}::timestamptz, ${after.id}::uuid)`
    const { rows } = await sql<FailedRow>`
      select call.id, call.received_at as at,
        (${callMatches(filter)} and call.processed_at <= ${before}) is true as matches
      from billing.webhook_calls as call
      where ${callIsWithin(filter)} ${isBehind ?? sql``}
      order by call.received_at, call.id limit ${limit}`.execute(db)
    return rows
  },
  async requeue(db, ids, { before }) {
    // Held by their ids alone: beside `state`, a server without statistics takes all that have failed.
    const { rows } = await sql<{ id: string }>`
      with held as materialized (
        select id, state, processed_at from billing.webhook_calls
        where id = any(${[...ids]}::uuid[]) order by id for update
      )
      update billing.webhook_calls as call set ${requeued}
      from held where call.id = held.id and held.state = 'failed' and held.processed_at <= ${before}
      returning call.id`.execute(db)
    return rows.map(({ id }) => id)
  },
}
