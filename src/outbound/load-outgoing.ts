import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { StoredData } from '../events/event-data.ts'
import type { Log } from '../kernel/log.ts'
import { loadRows, type EventRow } from '../processing/load-events.ts'
import type { LoadContext } from '../processing/load-subjects.ts'

export interface OutgoingContext extends LoadContext {
  readonly db: Kysely<Tables>
  readonly log: Log
}

/** An event with its row. */
export interface LoadedRow<Row> {
  readonly row: Row
  readonly event: BillingEvent
  /** What it is about could not be read, so it is not known of which gateway it is. */
  readonly isBare: boolean
}

/**
 * The events of rows, in their order, with what they are about as it stands. One that cannot be read
 * goes out with what it stores: no reader may miss it.
 */
export async function loadOutgoing<Row extends EventRow>(
  { db, log, ...context }: OutgoingContext,
  rows: readonly Row[],
): Promise<readonly LoadedRow<Row>[]> {
  const loaded = await loadRows(db, rows, context)
  return rows.map((row, index) => {
    const one = loaded[index]
    if (one !== undefined && 'event' in one) return { row, event: one.event, isBare: false }
    log.error({ err: one?.error, event: row.id }, 'an event goes out without what it is about')
    return { row, event: bare(row), isBare: true }
  })
}

function bare(row: EventRow): BillingEvent {
  const { id, type, dedup_key: dedupKey, superseded, created_at: createdAt } = row
  const head = { id, type, dedupKey, superseded, createdAt }
  return { ...(JSON.parse(row.data) as StoredData), ...head } as unknown as BillingEvent
}
