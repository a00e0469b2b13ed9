import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { RunEstimate } from '../database/runs.ts'
import type { Tables } from '../database/tables.ts'
import type { RunFilter } from '../wire/run.ts'

/** A row that has failed for good, in the order in which a run comes to it. */
export interface FailedRow {
  readonly id: string
  /** Of a call, when it was received; of any other, when it was created. */
  readonly at: Date
  /** Whether the run replays it. */
  readonly matches: boolean
}

/** Which failed rows to read. */
export interface FailedPage {
  /** Only what failed until then is replayed: what fails again meanwhile is not. */
  readonly before: Date
  /** The last row of the page before. */
  readonly after: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** What a run replays of one table. */
export interface FailedRows {
  count(db: Kysely<Tables>, filter: RunFilter): Promise<RunEstimate>
  /** The rows after a place, also those that are not to be replayed. */
  next(db: Kysely<Tables>, filter: RunFilter, page: FailedPage): Promise<readonly FailedRow[]>
  /** Puts back those that are still as they were. Returns them. */
  requeue(
    db: Kysely<Tables>,
    ids: readonly string[],
    run: { readonly filter: RunFilter; readonly before: Date },
  ): Promise<readonly string[]>
}

/** Counting goes no further: a page must not wait for millions of rows. */
export const mostCounted = 10_000

/** What of an exception is compared; also what a person is shown of many. */
export const comparedLength = 500
/** As much as a person is shown of a group: see inspect/exception-line. */
const shownLength = 200

/**
 * Whether the exception begins with this line, or with what a person is shown of it: without the
 * listener that threw it, and cut. A control character in it counts as a space.
 */
export function saysFirst(exception: RawBuilder<unknown>, line: string): RawBuilder<unknown> {
  const first = sql`regexp_replace(left(split_part(${exception}, chr(10), 1), ${comparedLength}),
    '[[:cntrl:]]', ' ', 'g')`
  const isShown = sql`left(regexp_replace(${first}, '^in listener .*?: ', ''), ${shownLength}) = ${line}`
  return sql`(${first} = ${line} or ${isShown})`
}
