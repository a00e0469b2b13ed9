import type { RawBuilder } from 'kysely'
import type { Duration } from '../kernel/duration.ts'

/** A row that this process holds; nobody changes it without its token. */
export interface Lease {
  readonly id: string
  readonly token: string
}

/** A table whose rows are leased: it has `lease_token` and `lease_until`. */
export interface LeasedTable {
  /** With its schema. */
  readonly name: string
  /** Its primary key; a UUID named `id` if left out. */
  readonly key?: 'name'
  /** How long a lease lasts, unless it is extended. */
  readonly length: Duration
}

/**
 * A table whose rows are due by a time alone. If a worker dies, its lease runs out, and the next look
 * takes the row again.
 */
export interface TimedTable<Row extends Lease, Asked> extends LeasedTable {
  /** What else is read from a row that is taken; the table is called `row`. */
  readonly columns?: RawBuilder<Omit<Row, keyof Lease>>
  /** Which rows are due, and their `order by`; the table is called `due`. */
  due(asked: Asked): RawBuilder<unknown>
  /** What taking a row sets besides the lease. */
  readonly taking?: RawBuilder<unknown>
  /** The name under which the look is prepared; its text must then always be the same. */
  prepared?(asked: Asked): string
}

/** What is read from every row of a queue that is taken. */
export interface QueueRow extends Lease {
  /** Attempts that have failed. */
  readonly attempts: number
  /** Workers that died while they held it. */
  readonly leases_lost: number
  /** Passing failures; none of them counts as an attempt. */
  readonly times_returned: number
}

/**
 * A table whose rows are their own queue entries. It has the columns of `QueueRow`, and `queue`,
 * `state` (`pending`, `processing`, `processed`, `failed`, or others that end it),
 * `next_attempt_at`, `exception` and `processed_at`. If a worker dies, the sweeper puts its rows back
 * and counts the loss.
 */
export interface QueueTable<Row extends QueueRow = QueueRow> extends LeasedTable {
  /** What else is read from a row that is taken; the table is called `row`. */
  readonly columns: RawBuilder<Omit<Row, keyof QueueRow>>
  /** The column that says when a row came: how long it may be postponed counts from there. */
  readonly cameAt: string
  /** Which rows are taken as one kind, where a table holds several. */
  readonly kind?: RawBuilder<unknown>
  /** Which due rows may be taken; the table is called `due`. All of them if left out. */
  readonly isNext?: RawBuilder<unknown>
  /** It has `needs_review`, which marks a row that has failed for good: a person must look. */
  readonly isReviewed: boolean
}

const leaseLostName = 'LeaseLost'

/** Another worker has the row: on this error, roll back and touch nothing. */
export function leaseLost({ id }: Lease): Error {
  return Object.assign(new Error(`lease of ${id} lost`), { name: leaseLostName })
}

export function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && error.name === leaseLostName
}
