import type { Database } from '../database/connect.ts'
import type { Registry } from '../gateways/registry.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { Log } from '../kernel/log.ts'
import type { Dispatching } from '../listeners/tell-listeners.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { LeasedCall } from '../queue/lease.ts'

export interface Processing extends Dispatching {
  readonly database: Database
  readonly gateways: Registry
  readonly log: Log
  /** For what is stored encrypted; undefined where no key is set. */
  readonly cipher: Cipher | undefined
  readonly random: () => number
  /** Blanks out known secrets in a text that will be stored. */
  scrub(text: string): string
  /** Work after commits that has not ended yet. */
  readonly underWay: Set<Promise<void>>
  /** Calls wait. */
  onCalls(): void
  /** Deliveries to queued listeners wait. */
  onDeliveries(): void
}

/**
 * - `done`: processed or ignored, its claims committed;
 * - `failed`: an attempt is used up; it will be retried or is `failed` for good;
 * - `returned`: a passing failure of the database or the provider, no attempt used;
 * - `lost`: another worker has the lease; nothing of ours is committed.
 */
export type CallResult = 'done' | 'failed' | 'returned' | 'lost'

/** A leased call and what its callback says. */
export interface InterpretedCall {
  readonly call: LeasedCall
  readonly outcomes: readonly Outcome[]
}

/** Applies what a callback says: in a transaction of its own, or with others. */
export type Settle = (interpreted: InterpretedCall, processing: Processing) => Promise<CallResult>

/** How a worker goes about its calls; by default each is settled alone, and nobody watches. */
export interface Going {
  readonly settle?: Settle
  /** Runs the interpretation, and sees how long it takes. */
  readonly watch?: <T>(gateway: string, interpret: () => Promise<T>) => Promise<T>
}
