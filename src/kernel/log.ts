import { pino, type DestinationStream, type Logger } from 'pino'
import { safeError } from './safe-error.ts'

/** One JSON line an entry. Secrets never reach it; fields are bounded by the callers. */
export type Log = Logger

export interface LogOptions {
  readonly level: string
  readonly destination: DestinationStream
}

export function createLog({ level, destination }: LogOptions): Log {
  return withSafeErrors(pino({ name: 'quittance', level }, destination))
}

/** The same log, whoever made it, writing errors without what drivers hang on them. */
export function withSafeErrors(log: Log, scrub?: (text: string) => string): Log {
  return log.child({}, { serializers: { err: (error: unknown) => safeError(error, scrub) } })
}

/** A log that says nothing: the library's default, until the app passes its own. */
export const silentLog: Log = pino({ level: 'silent' })
