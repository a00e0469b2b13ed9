import { connect, type Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { silentLog } from '../../src/kernel/log.ts'

/** Writes very many rows into a database, and may take long: the limits of the product are not its own. */
export async function seed(
  url: string | undefined,
  write: (database: Database) => Promise<void>,
): Promise<void> {
  const database = connect({
    target: { kind: 'postgres', url: url ?? '' },
    log: silentLog,
    poolSize: 1,
    applicationName: 'quittance test',
    statementTimeout: hours(1),
  })
  try {
    await write(database)
    // What it has read is counted now, and not while somebody else's reads are.
    await database.pool.query('select pg_stat_force_next_flush()')
  } finally {
    await database.close()
  }
}
