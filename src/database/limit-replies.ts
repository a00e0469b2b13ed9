import type pg from 'pg'
import type { Duplex } from 'node:stream'
import { createDeadlines, type Deadline } from '../kernel/deadlines.ts'
import type { Duration } from '../kernel/duration.ts'

type Send = (...args: readonly unknown[]) => unknown

/**
 * Cuts connections whose server does not answer a statement in time; whoever waits gets an error. A
 * statement's time begins when those before it are answered.
 *
 * The driver's own `query_timeout` makes a timer for each statement, and until the next full
 * collection the memory keeps what statements carried: with it, storing callbacks takes a fifth more
 * of the processor.
 */
export function createReplyLimit(limit: Duration): (client: pg.ClientBase) => void {
  const deadlines = createDeadlines<() => void>(limit, (cut) => cut())
  return (client) => {
    let unanswered = 0
    let deadline: Deadline<() => void> | undefined
    const cut = () => streamOf(client).destroy(new Error('Query read timeout'))
    const watch = () => {
      if (deadline !== undefined) deadlines.delete(deadline)
      deadline = unanswered === 0 ? undefined : deadlines.add(cut)
    }
    const begin = () => {
      unanswered += 1
      if (unanswered === 1) watch()
    }
    const end = () => {
      unanswered -= 1
      watch()
    }
    const send = client.query.bind(client) as Send
    client.query = watched(send, { begin, end }) as unknown as typeof client.query
  }
}

/** With a callback or without; what is neither, such as a cursor, ends when it likes. */
function watched(send: Send, { begin, end }: { begin(): void; end(): void }): Send {
  return (...args) => {
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      let isAnswered = false
      const answer = (...results: readonly unknown[]) => {
        if (!isAnswered) end()
        isAnswered = true
        Reflect.apply(callback, undefined, results)
      }
      const sent = send(...args.slice(0, -1), answer)
      begin()
      return sent
    }
    const sent = send(...args)
    if (!(sent instanceof Promise)) return sent
    begin()
    return sent.finally(end)
  }
}

/** The types of the driver do not name it, but each of its clients has it. */
function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { readonly connection: pg.Connection }).connection.stream
}
