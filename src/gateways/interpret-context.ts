import type { Log } from '../kernel/log.ts'
import type { Credentials } from './credential-fields.ts'

/** What the interpretation of a stored callback may use. It has no database. */
export interface InterpretContext {
  readonly credentials: Credentials
  readonly log: Log
  readonly signal: AbortSignal
}
