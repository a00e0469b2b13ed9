import type { Log } from '../kernel/log.ts'
import type { Credentials } from './credential-fields.ts'

/** What the interpretation of a stored callback may use. It has no database. */
export interface InterpretContext {
  readonly credentials: Credentials
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * What an operation at a provider may use; no transaction is open meanwhile. The signal ends the
 * operation when its time is up; what it asked for may still have happened.
 *
 * Errors of all operations: `provider_refused` if the provider says that nothing was done;
 * `provider_unreachable` and `provider_reply_invalid` if that is unknown.
 */
export interface OperationContext extends InterpretContext {
  readonly now: Date
}
