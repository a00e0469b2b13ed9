import type { RawBuilder } from 'kysely'

/** A row that this process holds; nobody changes it without its token. */
export interface Lease {
  readonly id: string
  readonly token: string
}

/** What is read from every row that is taken. */
export interface LeasedRow extends Lease {
  /** Attempts that have failed. */
  readonly attempts: number
  /** Workers that died while they held it. */
  readonly leases_lost: number
  /** Passing failures; none of them counts as an attempt. */
  readonly times_returned: number
}

/**
 * A table whose rows are their own queue entries. It has the columns of `LeasedRow`, with
 * `lease_token` for the token, and `queue`, `state` (`pending`, `processing`, `processed`,
 * `failed`, or others that end it), `next_attempt_at`, `lease_until`, `exception` and
 * `processed_at`.
 */
export interface LeasedTable<Row extends LeasedRow = LeasedRow> {
  /** With its schema. */
  readonly name: string
  /** What else is read from a row that is taken; the table is called `row`. */
  readonly columns: RawBuilder<Omit<Row, keyof LeasedRow>>
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
