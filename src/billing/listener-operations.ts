import { forgetListener, listKnownListeners } from '../listeners/known-listeners.ts'
import { handle } from './handles.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.listeners` */
export function listenerOperations(runtime: Runtime): BillingCore['listeners'] {
  const what = 'billing.listeners'
  return {
    list: async () => listKnownListeners(await handle(runtime, what), runtime.listeners),
    forget: async (name) => forgetListener(await handle(runtime, what), name),
  }
}
