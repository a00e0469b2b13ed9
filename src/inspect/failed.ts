import type { Database } from '../database/connect.ts'
import {
  countFailed,
  readFailedCalls,
  readFailedDeferredEvents,
  readFailedDeliveries,
  readFailedForwards,
  readLastAttempts,
  type FailedBounds,
  type FailedCounts,
} from '../database/failed-rows.ts'
import { readInOrder } from '../database/read-in-order.ts'
import { groupFailed, type FailedGroup, type FailedKind } from './failed-groups.ts'

/** What failed for good: nothing is tried again by itself. */
export interface FailedReport {
  readonly counts: FailedCounts
  /** The group of the newest failure first. */
  readonly groups: readonly FailedGroup[]
  /** There are more: of each kind the newest 10,000 rows, and 100 groups of them, are here. */
  readonly truncated: boolean
}

/** Which of what failed; all of it if left out. */
export interface FailedReportQuery {
  readonly kind?: FailedKind
}

const mostGroups = 100
const mostRows = 10_000
/** A listener's name, and more than is shown of what it threw. */
const lineLength = 500

/** Each kind is read by the index of its failed rows. */
export async function readFailed(
  database: Database,
  { kind }: FailedReportQuery = {},
): Promise<FailedReport> {
  const counts = await readInOrder(database, countFailed)
  const bounds = { rows: mostRows, groups: mostGroups + 1, ids: 10 }
  const groups = await readFailedGroups(database, bounds)
  const shown = groups.filter((group) => kind === undefined || group.kind === kind)
  return {
    counts,
    groups: shown.slice(0, mostGroups),
    truncated: shown.length > mostGroups || Object.values(counts).some((count) => count > mostRows),
  }
}

export async function readFailedGroups(
  database: Database,
  bounds: Omit<FailedBounds, 'line'>,
): Promise<readonly FailedGroup[]> {
  const bounded = { ...bounds, line: lineLength }
  const { forwards, ...others } = await readInOrder(database, async (db) => ({
    calls: await readFailedCalls(db, bounded),
    deliveries: await readFailedDeliveries(db, bounded),
    deferredEvents: await readFailedDeferredEvents(db, bounded),
    forwards: await readFailedForwards(db, bounded),
  }))
  const newest = forwards.flatMap(({ endpointId, ids: [eventId] }) =>
    eventId === undefined ? [] : [{ endpointId, eventId }],
  )
  const attempts = await readLastAttempts(database.db, newest)
  return groupFailed({ ...others, forwards, attempts, mostIds: bounds.ids })
}
