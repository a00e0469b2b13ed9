import type {
  FailedCalls,
  FailedDeferredEvents,
  FailedDeliveries,
  FailedForwards,
  LastAttempt,
} from '../database/failed-rows.ts'
import { exceptionLine } from './exception-line.ts'

export const failedKinds = ['call', 'delivery', 'deferred_event', 'forward'] as const
/** What failed: a call, a delivery to a queued listener, a deferred event, an event to an endpoint. */
export type FailedKind = (typeof failedKinds)[number]

interface Failed {
  readonly count: number
  readonly newestAt: Date
  /** Some of them, the newest first: of calls, deliveries, deferred events; of forwards, of events. */
  readonly ids: readonly string[]
}

interface Thrown extends Failed {
  readonly listener: string | null
  /** The first line of the exception, cut at 200 characters. Foreign text. */
  readonly error: string
}

/** What failed for the same reason. */
export type FailedGroup =
  | (Thrown & { readonly kind: 'call'; readonly gateway: string })
  | (Thrown & { readonly kind: 'delivery' })
  | (Thrown & { readonly kind: 'deferred_event'; readonly eventType: string })
  | (Failed & {
      readonly kind: 'forward'
      readonly endpointId: string
      /** Its name; null: it is gone. */
      readonly endpoint: string | null
      /** How the last request of the newest one ended; null: that is not kept any more. */
      readonly result: string | null
      readonly status: number | null
    })

interface FailedRows {
  readonly calls: readonly FailedCalls[]
  readonly deliveries: readonly FailedDeliveries[]
  readonly deferredEvents: readonly FailedDeferredEvents[]
  readonly forwards: readonly FailedForwards[]
  readonly attempts: readonly LastAttempt[]
  readonly mostIds: number
}

/** Those whose lines are the same as far as they are shown are one group; the newest first. */
export function groupFailed({
  calls,
  deliveries,
  deferredEvents,
  forwards,
  attempts,
  mostIds,
}: FailedRows): readonly FailedGroup[] {
  const groups = new Map<string, FailedGroup>()
  const add = (key: readonly (string | null)[], group: FailedGroup) => {
    const text = JSON.stringify([group.kind, ...key])
    const known = groups.get(text)
    groups.set(text, known === undefined ? group : together(known, group, mostIds))
  }
  for (const row of calls) {
    const { gateway } = row
    const { listener, line: error } = exceptionLine(row.line)
    add([gateway, listener, error], { kind: 'call', gateway, listener, error, ...sumOf(row) })
  }
  for (const row of deliveries) {
    const { listener } = row
    const { line: error } = exceptionLine(row.line)
    add([listener, error], { kind: 'delivery', listener, error, ...sumOf(row) })
  }
  for (const row of deferredEvents) {
    const { eventType } = row
    const { listener, line: error } = exceptionLine(row.line)
    const group = { kind: 'deferred_event', eventType, listener, error, ...sumOf(row) } as const
    add([eventType, listener, error], group)
  }
  for (const row of forwards) add([row.endpointId], forwardGroup(row, attempts))
  return [...groups.values()].toSorted((a, b) => b.newestAt.getTime() - a.newestAt.getTime())
}

function forwardGroup(row: FailedForwards, attempts: readonly LastAttempt[]): FailedGroup {
  const { endpointId, endpoint, ids } = row
  const last = attempts.find(
    (attempt) => attempt.endpointId === endpointId && attempt.eventId === ids[0],
  )
  const { result = null, status = null } = last ?? {}
  return { kind: 'forward', endpointId, endpoint, result, status, ...sumOf(row) }
}

function sumOf({ count, newestAt, ids }: Failed): Failed {
  return { count, newestAt, ids }
}

function together(one: FailedGroup, other: FailedGroup, mostIds: number): FailedGroup {
  const [newer, older] = one.newestAt >= other.newestAt ? [one, other] : [other, one]
  return {
    ...newer,
    count: one.count + other.count,
    ids: [...newer.ids, ...older.ids].slice(0, mostIds),
  }
}
