import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'

/** A time that the database takes for its own, which passes only as it is told. */
export interface SimulatedClock {
  readonly now: () => Date
  set(time: Date): Promise<void>
}

/**
 * Gives a database a time of its own: functions of the same names come before those of the server.
 * It holds for connections that are opened from then on.
 */
export async function simulateClock(database: Database, start: Date): Promise<void> {
  const { db } = database
  await sql`create schema simulation`.execute(db)
  await sql`create table simulation.clock (at timestamptz not null)`.execute(db)
  await sql`insert into simulation.clock values (${start})`.execute(db)
  for (const name of ['now', 'statement_timestamp', 'transaction_timestamp', 'clock_timestamp']) {
    await sql`create function ${sql.id('simulation', name)}() returns timestamptz stable
      language sql as 'select at from simulation.clock'`.execute(db)
  }
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  await sql`alter database ${sql.id(rows[0]?.name ?? '')}
    set search_path = simulation, pg_catalog, public`.execute(db)
}

/** Sets it, from a connection that was opened afterwards. */
export async function openSimulatedClock(
  { db, kind }: Database,
  start: Date,
): Promise<SimulatedClock> {
  // All share one session there, which is not set anew.
  if (kind === 'embedded') {
    await sql`select set_config('search_path', 'simulation, pg_catalog, public', false)`.execute(db)
  }
  let current = start
  return {
    now: () => current,
    set: async (time) => {
      await sql`update simulation.clock set at = ${time}`.execute(db)
      current = time
    },
  }
}
