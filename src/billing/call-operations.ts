import { findCall, findListedCall } from '../database/calls.ts'
import { listCalls } from '../database/list-calls.ts'
import { listDeferredEventsOfCall } from '../database/deferred-events.ts'
import { listFailedAttempts } from '../database/failed-attempts.ts'
import { withUuid } from '../kernel/uuid.ts'
import { replayCall } from '../processing/replay-call.ts'
import { replayFailed } from '../upkeep/replay-failed.ts'
import { handle, openedDatabase } from './handles.ts'
import { callsQuery, checked, failedQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.calls` */
export function callOperations(runtime: Runtime): BillingCore['calls'] {
  return {
    get: async (id) => {
      const db = await handle(runtime, 'billing.calls.get')
      const call = await withUuid(id, (known) => findCall(db, known))
      if (call === undefined) return undefined
      const deferredEvents = await listDeferredEventsOfCall(db, call)
      return {
        ...call,
        deferredEvents,
        failedAttempts: await listFailedAttempts(db, { callId: id }),
      }
    },
    find: async (id) => {
      const db = await handle(runtime, 'billing.calls.find')
      return withUuid(id, (known) => findListedCall(db, known))
    },
    list: async (query = {}) =>
      listCalls(await openedDatabase(runtime, 'billing.calls.list'), checked(callsQuery, query)),
    replay: async (id) => {
      await replayCall(await handle(runtime, 'billing.calls.replay'), id)
      await runtime.announce()
    },
    replayFailed: async (query = {}, onProgress) =>
      replayFailed(await handle(runtime, 'billing.calls.replayFailed'), {
        ...checked(failedQuery, query),
        announce: () => runtime.announce(),
        ...(onProgress && { onProgress }),
      }),
  }
}
