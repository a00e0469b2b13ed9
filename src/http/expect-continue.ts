import type { IncomingMessage, ServerResponse } from 'node:http'

const unread = new WeakSet<IncomingMessage>()

/**
 * For `Expect: 100-continue`: the sender may continue when something begins to read the
 * body. If the request is refused for its head, the body was never asked for.
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

/** The sender was not asked to continue: whether the body follows all the same is unknown. */
export function isAwaitingContinue(incoming: IncomingMessage): boolean {
  return unread.has(incoming)
}
