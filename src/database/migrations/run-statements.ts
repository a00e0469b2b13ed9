import type { Kysely, RawBuilder } from 'kysely'

/** Runs a migration's statements in order, in the migration's own transaction. */
export async function runStatements(
  db: Kysely<unknown>,
  statements: readonly RawBuilder<unknown>[],
): Promise<void> {
  for (const statement of statements) await statement.execute(db)
}
