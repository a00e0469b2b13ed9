import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Bodies over 2 KB lie beside the table and uncompressed: the updates of a call do not copy them,
 * and nothing is squeezed that is read once and pruned after a while.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.webhook_calls
      alter column payload set storage external, alter column body set storage external`,
  ])
}
