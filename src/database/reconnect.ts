import type pg from 'pg'

/** Makes connections anew after a failover: those that are open lead where the name led before. */
export interface Reconnection {
  /** Ends the idle connections of the pool; whoever needs one opens it. */
  reconnect(): void
  /** For connections beside the pool: told each time, until the returned function is called. */
  onReconnect(listener: () => void): () => void
}

export function createReconnection(pool: pg.Pool): Reconnection {
  const listeners = new Set<() => void>()
  return {
    reconnect() {
      // A pool has no way to end what is idle but to take it.
      for (let idle = pool.idleCount; idle > 0; idle -= 1) {
        pool.connect().then(
          (client) => client.release(true),
          () => {},
        )
      }
      for (const listener of listeners) listener()
    },
    onReconnect(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
