import type { Database } from '../database/connect.ts'
import { forgetGone, forgetWorker, notePresent, presentEvery } from '../database/workers.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { repeat } from './repeat.ts'

interface PresenceOptions {
  readonly database: Database
  readonly log: Log
  readonly newId: NewId
}

/** Lets others count a worker that is about to start. Returns what ends that; it never rejects. */
export async function startPresence({
  database: { db },
  log,
  newId,
}: PresenceOptions): Promise<() => Promise<void>> {
  const id = newId()
  await notePresent(db, id)
  const stop = repeat(presentEvery, log, async () => {
    await notePresent(db, id)
    await forgetGone(db)
  })
  return async () => {
    await stop()
    // If the database is away, the row will soon be too old to count.
    await forgetWorker(db, id).catch(() => {})
  }
}
