import type { Connection } from './open-connections.ts'

/** For all unfinished bodies together: anybody can send that much, and then nothing more. */
const mostHeldBytes = 64 * 1024 * 1024
/** Callbacks are smaller: slow ones are left alone. */
const smallBody = 64 * 1024

/** Requests whose bodies are too much for the memory, all together: those that started first. */
export function hoarders(open: Iterable<Connection>): readonly Connection[] {
  const holding = Array.from(open, (connection) => ({ connection, bytes: heldBy(connection) }))
  const large = holding.filter(({ bytes }) => bytes > smallBody)
  let total = large.reduce((sum, { bytes }) => sum + bytes, 0)
  return large.flatMap(({ connection, bytes }) => {
    if (total <= mostHeldBytes) return []
    total -= bytes
    return [connection]
  })
}

function heldBy({ socket, underWay }: Connection): number {
  const last = underWay.at(-1)
  // What comes after the answer is discarded.
  if (last === undefined || last.incoming.complete || last.outgoing.headersSent) return 0
  return socket.bytesRead - last.readBefore
}
