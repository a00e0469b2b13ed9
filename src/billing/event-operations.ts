import { listEvents } from '../database/events.ts'
import { handle } from './handles.ts'
import { checked, eventsQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.events` */
export function eventOperations(runtime: Runtime): BillingCore['events'] {
  return {
    list: async (query = {}) =>
      listEvents(await handle(runtime, 'billing.events'), checked(eventsQuery, query)),
  }
}
