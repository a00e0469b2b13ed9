import type pg from 'pg'

/** Makes new connections after a failover: the open ones lead where the name led before. */
export interface Reconnection {
  /** Ends the idle connections of the pool; new ones are opened when needed. */
  reconnect(): void
  /** For connections beside the pool: called each time, until the returned function is called. */
  onReconnect(listener: () => void): () => void
}

export function createReconnection(pool: pg.Pool): Reconnection {
  const listeners = new Set<() => void>()
  return {
    reconnect() {
      // To end an idle client, a pool has no other way than to take it.
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
