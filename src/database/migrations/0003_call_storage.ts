import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Calls lie in their rows as they came, up to the size of a page: compressing what is read once and
 * pruned after a while cost PostgreSQL as much as all the rest of storing it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [sql`alter table billing.webhook_calls set (toast_tuple_target = 8160)`])
}
