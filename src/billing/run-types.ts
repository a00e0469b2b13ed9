import type { Page, PageQuery } from '../database/page.ts'
import type { Run } from '../wire/run.ts'
import type { StartRunInput } from './run-input.ts'

/** `billing.runs`: replays of all that failed and matches a filter. */
export interface RunOperations {
  /**
   * Replays, in batches, all that has failed for good and matches; any process that works goes on with
   * it. The same id and filter again are the same run. Errors: run_invalid, run_exists.
   */
  start(input: StartRunInput): Promise<Run>
  /** How far it has come; undefined for an id that no run has. */
  get(id: string): Promise<Run | undefined>
  /** Newest first. Errors: query_invalid, cursor_invalid. */
  list(query?: PageQuery): Promise<Page<Run>>
  /** Ends it after its present batch; what is in the queue stays there. Error: run_not_found. */
  stop(id: string): Promise<Run>
}
