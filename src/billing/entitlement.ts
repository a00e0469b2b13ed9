import { makeOnce } from '../kernel/make-once.ts'
import type { MoneyContext } from '../money/context.ts'
import { registerListeners, requireAllListeners } from '../listeners/listeners.ts'
import type { Parts } from './parts.ts'
import { moneyContextOf } from './money-context.ts'
import type { ServiceSettings } from './settings.ts'

/** The right of this process to claim events, for operations that start outside a worker. */
export interface Entitlement {
  /** Its listeners are registered, or about to be: no more may be added. */
  readonly begun: boolean
  /**
   * For work that claims: its listeners are registered; the claim itself refuses if one is lacking.
   */
  registeredContext(): Promise<MoneyContext>
  /** For work that asks a provider: refuses beforehand if this process lacks a listener. */
  entitledContext(): Promise<MoneyContext>
}

export function createEntitlement(
  parts: () => Promise<Parts>,
  settings: ServiceSettings,
): Entitlement {
  const registered = makeOnce(async () => {
    const { processing } = await parts()
    await registerListeners(processing.database.db, processing.listeners)
  })
  const registeredContext = async () => {
    await registered.get()
    return moneyContextOf(await parts(), settings)
  }
  return {
    get begun() {
      return registered.begun
    },
    registeredContext,
    entitledContext: async () => {
      const context = await registeredContext()
      const { database, listeners } = context.processing
      // Every time: another process may have registered one since.
      await requireAllListeners(database.db, listeners)
      return context
    },
  }
}
