import type { SocketAddress } from './socket-place.ts'

/** What the thread of the database is started with. */
export interface ThreadOptions {
  /** The folder of PostgreSQL's files, or undefined for a database in memory. */
  readonly databaseFolder: string | undefined
  readonly address: SocketAddress
  readonly transactionIdleMs: number
  /** A clock to live by (`StillClock`), for rehearsals; the system's if left out. */
  readonly clock?: SharedArrayBuffer | undefined
}

export type ToThread = { readonly kind: 'ping' } | { readonly kind: 'close' }

export type FromThread =
  /** Its code is loaded: what fails from now on is not the fault of whoever packed it. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'pong' }
  /** From now on it is busy for who would wait for so long; 0: as long as it may stay silent. */
  | { readonly kind: 'limit'; readonly limitMs: number }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'closed' }
