import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Bodies over 2 KB are stored beside the table and uncompressed: updates of a call do not copy
 * them, and what is read once and then pruned is not worth compressing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.webhook_calls
      alter column payload set storage external, alter column body set storage external`,
  ])
}
