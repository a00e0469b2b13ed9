import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { requeueSettleableCalls } from '../processing/awaiting.ts'
import { expireLeases, type QueueTable } from '../queue/lease.ts'

const tables: readonly QueueTable[] = ['billing.webhook_calls', 'billing.deliveries']

/** Takes rows back from workers that are gone. Returns how many wait again. */
export async function sweepLeases(database: Database, log: Log): Promise<number> {
  let requeued = 0
  for (const table of tables) {
    const expired = await expireLeases(database.db, table)
    requeued += expired.requeued
    if (expired.requeued > 0) {
      log.warn({ table, rows: expired.requeued }, 'leases ran out; another worker takes over')
    }
    if (expired.failed > 0) log.error({ table, rows: expired.failed }, 'given up: worker lost')
  }
  return requeued
}

/** Joins early callbacks with payments that were created beside them. */
export async function sweepAwaiting(database: Database, log: Log): Promise<number> {
  const calls = await requeueSettleableCalls(database.db)
  if (calls.length > 0) log.info({ calls: calls.length }, 'early callbacks found their payment')
  return calls.length
}
