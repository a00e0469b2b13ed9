import type pg from 'pg'
import type { Duplex } from 'node:stream'
import { createDeadlines } from '../kernel/deadlines.ts'
import type { Duration } from '../kernel/duration.ts'

type Send = (...args: readonly unknown[]) => Promise<unknown>

/**
 * Cuts connections whose server does not answer a statement in time; whoever waits gets an error.
 * The driver's own `query_timeout` makes a timer for each statement, and until the next full
 * collection the memory keeps what statements carried: with it, one that stores callbacks takes a
 * third more of the processor.
 */
export function createReplyLimit(limit: Duration): (client: pg.ClientBase) => void {
  const deadlines = createDeadlines<() => void>(limit, (cut) => cut())
  return (client) => {
    const send = client.query.bind(client) as unknown as Send
    const cut = () => streamOf(client).destroy(new Error('Query read timeout'))
    const query = (...args: readonly unknown[]) => {
      const deadline = deadlines.add(cut)
      const done = () => deadlines.delete(deadline)
      const callback = args.at(-1)
      if (typeof callback !== 'function') return send(...args).finally(done)
      return send(...args.slice(0, -1), (...results: readonly unknown[]) => {
        done()
        Reflect.apply(callback, undefined, results)
      })
    }
    client.query = query as unknown as typeof client.query
  }
}

/** The types of the driver do not name it, but each of its clients has it. */
function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { readonly connection: pg.Connection }).connection.stream
}
