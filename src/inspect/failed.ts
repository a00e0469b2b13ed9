import type { Kysely } from 'kysely'
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
import type { Tables } from '../database/tables.ts'
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
  const bounds = { rows: mostRows, groups: mostGroups + 1, ids: 10 }
  const { counts, groups } = await readInOrder(database, async (db) => ({
    counts: await countFailed(db),
    groups: await readFailedGroups(db, bounds),
  }))
  const shown = groups.filter((group) => kind === undefined || group.kind === kind)
  return {
    counts,
    groups: shown.slice(0, mostGroups),
    truncated: shown.length > mostGroups || Object.values(counts).some((count) => count > mostRows),
  }
}

/** For `readInOrder`. */
export async function readFailedGroups(
  db: Kysely<Tables>,
  bounds: Omit<FailedBounds, 'line'>,
): Promise<readonly FailedGroup[]> {
  const bounded = { ...bounds, line: lineLength }
  const calls = await readFailedCalls(db, bounded)
  const deliveries = await readFailedDeliveries(db, bounded)
  const deferredEvents = await readFailedDeferredEvents(db, bounded)
  const forwards = await readFailedForwards(db, bounded)
  const newest = forwards.flatMap(({ endpointId, ids: [eventId] }) =>
    eventId === undefined ? [] : [{ endpointId, eventId }],
  )
  const attempts = await readLastAttempts(db, newest)
  const mostIds = bounds.ids
  return groupFailed({ calls, deliveries, deferredEvents, forwards, attempts, mostIds })
}
