import { sql, type Kysely } from 'kysely'
import { secret, type Secret } from '../kernel/secret.ts'
import type { Tables } from './tables.ts'

/**
 * What only those know who read this database, so that a command and a service can tell each other
 * that they use the same one. It opens nothing. A copy within the same server has another; one that
 * was restored elsewhere may have the same.
 */
export async function readInstallationKey(db: Kysely<Tables>): Promise<Secret> {
  const { rows } = await sql<{ key: string }>`
    select concat_ws('/', key, oid) as key
    from billing.installation, pg_database
    where datname = current_database()`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('billing.installation has no row')
  return secret(row.key)
}
