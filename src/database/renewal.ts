import type pg from 'pg'

/** Makes connections anew after a failover: those that are open lead where the name led before. */
export interface Renewal {
  /** Ends the idle ones; whoever needs one opens it. */
  renew(): void
  /** For connections beside the pool: told at each renewal, until the returned function is called. */
  onRenew(listener: () => void): () => void
}

export function createRenewal(pool: pg.Pool): Renewal {
  const listeners = new Set<() => void>()
  return {
    renew() {
      // A pool has no way to end what is idle but to take it.
      for (let idle = pool.idleCount; idle > 0; idle -= 1) {
        pool.connect().then(
          (client) => client.release(true),
          () => {},
        )
      }
      for (const told of listeners) told()
    },
    onRenew(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
