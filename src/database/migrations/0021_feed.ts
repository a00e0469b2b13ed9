import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * The order in which readers see events: each gets the next position of its feed after its commit, by
 * whoever holds the feed's row. Events from before, and those that older versions claim meanwhile,
 * have none until then. The indexes are among the late ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.events add column position bigint`,
    sql`create table billing.feeds (
      name text primary key,
      last_position bigint not null default 0 check (last_position >= 0)
    )`,
    sql`insert into billing.feeds (name) values ('events')`,
  ])
}
