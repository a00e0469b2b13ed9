import type { LeasedCall } from './calls.ts'

/**
 * Workers of this process that take calls as they are stored: these are stored leased, and are
 * neither looked for nor read again.
 */
export interface HandOver {
  /** How many calls they take now. */
  room(): number
  /** Whether they take calls of this gateway and queue. */
  wants(call: Pick<LeasedCall, 'gateway' | 'queue'>): boolean
  /** Calls that are committed. Resolves once what cannot be processed after all is released. */
  give(calls: readonly LeasedCall[]): Promise<void>
  /** Calls may have been stored leased under this token, and nobody has them: they are released. */
  release(token: string): Promise<void>
}
