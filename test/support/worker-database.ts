import pg from 'pg'
import { setVariable } from './set-variable.ts'

/** Which of its workers a mutation run has begun this process for. */
export function mutationWorker(): string | undefined {
  return setVariable('STRYKER_MUTATOR_WORKER')
}

let used = 0

/**
 * A mutation run begins a process for each change: there a database of one's own would take longer
 * than the tests. The processes of a worker follow one another, so they use the same databases.
 */
export function nextWorkerDatabase(worker: string, template: string): string {
  used += 1
  return `${template}_worker${worker}_${used}`
}

/** Takes all rows out of a database, or says that it is not there. */
export async function emptied(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'billing' and tablename not like 'migration%'`,
    )
    // One statement: the tables refer to each other in a circle.
    const deletions = rows.map(({ name }, index) => `t${index} as (delete from ${name})`)
    await client.query(`with ${deletions.join(', ')} select`)
    // The one row that a migration has written.
    await client.query(`insert into billing.feeds (name) values ('events')`)
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '3D000') return false
    throw error
  } finally {
    await client.end()
  }
}
