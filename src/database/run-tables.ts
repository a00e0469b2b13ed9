import type { Generated } from 'kysely'
import type { RunKind, RunState } from '../wire/run.ts'
import type { NullableTimestamp, Timestamp } from './column-types.ts'

/** Replays of all that failed and matches a filter: see runs.ts. */
export interface RunsTable {
  id: string
  operator: string | null
  gateway: string | null
  kind: RunKind | null
  listener: string | null
  exception: string | null
  since: NullableTimestamp
  until: NullableTimestamp
  state: RunState
  estimate: number
  /** There may be more: counting went no further. */
  estimate_is_least: boolean
  /** Put back into the queue. */
  done: Generated<number>
  /** Of these, what has ended since, however. */
  ended: Generated<number>
  /** Of these, what has failed for good once more. */
  failed_again: Generated<number>
  /** What it is at. */
  phase: RunKind
  /** The last call that it has come to. */
  cursor_at: NullableTimestamp
  /** The last row of its phase. */
  cursor_id: string | null
  /** The last item that was looked at. */
  item_cursor: string | null
  /** When a process last went on with it. */
  looked_at: Timestamp
  lease_token: string | null
  lease_until: NullableTimestamp
  /** What failed after it is not replayed. */
  created_at: Timestamp
  finished_at: NullableTimestamp
}

/** What a run has put back into the queue, until it has ended again. */
export interface RunItemsTable {
  run_id: string
  id: string
  kind: RunKind
}
