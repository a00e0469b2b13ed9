import type { Database } from '../database/connect.ts'
import { addMissingKeys } from '../database/payment-keys.ts'

/** A run of each minute leaves the database to others in between: 200,000 payments at most. */
const mostTimes = 200

/**
 * Makes payments findable by the metadata that the setting names since it was changed. The next run
 * goes on where this one ends.
 */
export async function addPaymentKeys(
  { db }: Database,
  searchedMetadata: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (let times = 0; times < mostTimes && !signal.aborted; times += 1) {
    if ((await addMissingKeys(db, searchedMetadata)) === 0) return
  }
}
