import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { returnLease, type LeasedCall } from '../queue/lease.ts'
import { returnDelay } from '../queue/retry.ts'

/** A database that restarts is back by then. */
const tries = 20
const pauseMs = 500

/**
 * Puts a call back after a passing database failure: no attempt is used. If that is in vain too,
 * the lease runs out and the sweeper takes the call back.
 */
export async function giveBack(
  call: LeasedCall,
  { database, log, random }: { database: Database; log: Log; random: () => number },
  error: unknown,
): Promise<void> {
  log.warn({ err: error, call: call.id }, 'passing database failure, will try again')
  const after = returnDelay(call.times_returned, random)
  for (let left = tries; left > 0; left -= 1) {
    try {
      await returnLease(database.db, 'billing.webhook_calls', { lease: call, after })
      return
    } catch {
      await pause(pauseMs)
    }
  }
}
