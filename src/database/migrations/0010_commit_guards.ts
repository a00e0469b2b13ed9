import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * A row that cannot be committed: its key refers to nothing, which is checked at the commit. While
 * it is there, nobody but us can commit a transaction in which listeners run.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.commit_guards (
      id uuid primary key,
      key uuid not null,
      constraint only_quittance_commits foreign key (key) references billing.commit_guards (id)
        deferrable initially deferred
    )`,
  ])
}
