import { minutes, seconds, type Duration } from '../kernel/duration.ts'

/** How long a process waits for its database. */
export interface Patience {
  /** For a connection: a new one, or a free one of the pool. */
  readonly connection: Duration
  readonly statement: Duration
  /** For a row or a table that another transaction holds. */
  readonly lock: Duration
  /** For a statement that stores callbacks. */
  readonly storing: Duration
  /** Within this time a callback is answered: it is stored, or must be sent again. */
  readonly answering: Duration
  /** For a statement of people who look. */
  readonly look: Duration
  /** Transactions on the embedded database that were forgotten end by then; listeners get less time. */
  readonly forgotten: Duration
}

export const usualPatience: Patience = {
  connection: seconds(2),
  statement: seconds(5),
  lock: seconds(2),
  storing: seconds(2),
  answering: seconds(2),
  look: seconds(2),
  forgotten: seconds(5),
}

/** For tests and rehearsals, which may run on a slow machine. */
export const muchPatience: Patience = {
  connection: minutes(2),
  statement: minutes(2),
  // A test that waits for its own lock, or forgets a transaction, hears of it soon.
  lock: seconds(20),
  storing: minutes(2),
  answering: minutes(2),
  look: minutes(2),
  forgotten: usualPatience.forgotten,
}
