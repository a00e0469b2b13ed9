import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** A text that only those know who read this database: it tells databases apart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.installation (
      one boolean primary key default true check (one),
      key uuid not null default gen_random_uuid()
    )`,
    sql`insert into billing.installation default values`,
  ])
}
