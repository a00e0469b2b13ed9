import type { IncomingMessage, ServerResponse } from 'node:http'

const unread = new WeakSet<IncomingMessage>()

/**
 * For `Expect: 100-continue`: the sender is told to go on when somebody begins to read the body. Who
 * refuses the request for what its head says has not asked for it.
 */
export function continueOnceRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const read = incoming.read.bind(incoming)
  unread.add(incoming)
  incoming.read = (size?: number): unknown => {
    incoming.read = read
    unread.delete(incoming)
    if (!outgoing.headersSent) outgoing.writeContinue()
    return read(size)
  }
}

/** The sender was not told to go on: whether he does, and the body follows, nobody knows. */
export function isAwaitingContinue(incoming: IncomingMessage): boolean {
  return unread.has(incoming)
}
