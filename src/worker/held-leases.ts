import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { releaseRows, releaseTaken } from '../queue/end-rows.ts'
import type { Lease, LeasedTable } from '../queue/leased-table.ts'
import { extendLeases } from '../queue/take-rows.ts'

interface HoldingPlace {
  readonly table: LeasedTable
  readonly database: Database
  readonly log: Log
}

/** Never rejects. */
export async function extendHeld(
  { table, database, log }: HoldingPlace,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length === 0) return
  try {
    await extendLeases(database.db, table, leases)
  } catch (error) {
    log.warn({ err: error, table: table.name }, 'could not extend leases')
  }
}

/** Never rejects. */
export async function releaseHeld(
  { table, database, log }: HoldingPlace,
  leases: readonly Lease[],
): Promise<void> {
  try {
    await releaseRows(database.db, table, leases)
  } catch (error) {
    log.warn({ err: error, table: table.name }, 'leases not released; they run out')
  }
}

/**
 * Whatever looks without an answer have leased: it would wait for its leases to run out, and each
 * would count as its worker's death. Forgets the tokens. Never rejects.
 */
export async function releaseUnanswered(
  { table, database }: HoldingPlace,
  tokens: Set<string>,
): Promise<void> {
  try {
    await releaseTaken(database.db, table, [...tokens])
    tokens.clear()
  } catch {
    // While the database is away, the look that follows fails as well, and that is logged.
  }
}
