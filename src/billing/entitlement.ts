import { makeOnce } from '../kernel/make-once.ts'
import type { Operating } from '../money/operating.ts'
import { registerListeners, requireAllListeners } from '../listeners/listeners.ts'
import type { Parts } from './parts.ts'
import { operatingOf } from './payments.ts'
import type { Settings } from './settings.ts'

/** The right of this process to claim events, for operations that come from outside a worker. */
export interface Entitlement {
  /** Its listeners are registered, or about to be: no more may come. */
  readonly begun: boolean
  /** For operations that ask a provider: refuses before that where this process lacks a listener. */
  operating(): Promise<Operating>
  /** The same without that look, for what only claims: a claim refuses by itself. */
  claiming(): Promise<Operating>
}

export function createEntitlement(parts: () => Promise<Parts>, settings: Settings): Entitlement {
  const registered = makeOnce(async () => {
    const { processing } = await parts()
    await registerListeners(processing.database.db, processing.listeners)
  })
  const claiming = async () => {
    await registered.get()
    return operatingOf(await parts(), settings)
  }
  return {
    get begun() {
      return registered.begun
    },
    claiming,
    operating: async () => {
      const operating = await claiming()
      const { database, listeners } = operating.processing
      // Every time: another process may have registered one since.
      await requireAllListeners(database.db, listeners)
      return operating
    },
  }
}
