import { pino, type DestinationStream, type Logger } from 'pino'
import { safeError } from './safe-error.ts'

/** One JSON line per entry. Secrets never reach it; callers bound the fields. */
export type Log = Logger

export interface LogOptions {
  readonly level: string
  readonly destination: DestinationStream
}

export function createLog({ level, destination }: LogOptions): Log {
  return withSafeErrors(pino({ name: 'quittance', level }, destination))
}

/** The same log, but it writes errors without what drivers attach to them. */
export function withSafeErrors(log: Log, scrub?: (text: string) => string): Log {
  return log.child({}, { serializers: { err: (error: unknown) => safeError(error, scrub) } })
}

/** A log that says nothing: the library's default, until the app passes its own. */
export const silentLog: Log = pino({ level: 'silent' })
