import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What payments are looked up by, each as the hash of its text: rows that are only ever inserted,
 * where an index on payments would be paid for at every change of a status. In the order of a list,
 * so that a page of a customer with a million payments reads a page. A walk over payments adds the
 * keys that are missing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.payment_keys (
      key bytea not null,
      created_at timestamptz(3) not null,
      payment_id uuid not null,
      primary key (key, created_at, payment_id)
    )`,
    sql`create table billing.walks (
      name text primary key,
      created_at timestamptz(3) not null,
      payment_id uuid not null
    )`,
  ])
}
