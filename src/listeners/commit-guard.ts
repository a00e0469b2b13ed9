import { sql, type Kysely } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'

/**
 * A row of ours in a transaction in which listeners run, under a key that refers to nothing. A
 * commit that is hidden in a listener's statement fails on it and takes everything back, the claims
 * of all others too; our own commit comes after the row is gone. The table refers to nothing else,
 * so it can stay local where tables are distributed. On a server without deferrable constraints it
 * would only notice, after the fact, that a listener has committed claims whose listeners had yet to
 * run.
 */
export interface CommitGuard {
  readonly id: string
  readonly key: string
}

export function newGuard(newId: NewId): CommitGuard {
  return { id: newId(), key: newId() }
}

/**
 * Removes the guard, and the claims that are not to be committed. False if it is not there: a
 * listener has ended the transaction in which it was written, and this is another one.
 */
export async function removeGuard(
  db: Kysely<Tables>,
  { id }: CommitGuard,
  undone: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`${named('remove-guard')}
    with undone as (delete from billing.events where id = any(${[...undone]}::uuid[]))
    delete from billing.commit_guards where id = ${id}::uuid returning id`.execute(db)
  return rows.length === 1
}
