import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { extendLeases } from '../leases/leases.ts'
import { releaseRows, releaseTaken } from '../leases/queue-rows.ts'
import type { Lease, QueueTable } from '../leases/leased-table.ts'

interface HoldingPlace {
  readonly table: QueueTable
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
 * Tokens of statements without an answer, of looks and of hand-overs: rows may be leased under them,
 * and nobody has them. They would wait for their leases to run out, and each would count as its
 * worker's death.
 */
export interface Unanswered {
  readonly size: number
  add(token: string): void
  delete(token: string): void
  /** Releases whatever is leased under them. Never rejects. */
  release(): Promise<void>
}

/** While a database is away nothing is leased any more: the first ones are those that matter. */
const mostUnanswered = 1_000

export function createUnanswered({ table, database }: HoldingPlace): Unanswered {
  const tokens = new Set<string>()
  return {
    get size() {
      return tokens.size
    },
    add(token) {
      if (tokens.size < mostUnanswered) tokens.add(token)
    },
    delete: (token) => void tokens.delete(token),
    async release() {
      // Others may come meanwhile.
      const known = [...tokens]
      // Lanes that stop would wait for a database that does not answer.
      if (known.length === 0) return
      try {
        await releaseTaken(database.db, table, known)
        for (const token of known) tokens.delete(token)
      } catch {
        // While the database is away, the look that follows fails as well, and that is logged.
      }
    },
  }
}
