import { pino, type DestinationStream, type Logger } from 'pino'
import { safeError } from './safe-error.ts'

/** One JSON line an entry. Secrets never reach it; fields are bounded by the callers. */
export type Log = Logger

/** Bytes that may wait for a blocked sink before further lines are dropped: intake never waits. */
const bufferedBytes = 4 * 1024 * 1024

export interface LogOptions {
  readonly level?: string
  readonly destination?: DestinationStream
}

/** Logs to standard error, so that standard output stays for what a command answers. */
export function createLog(options: LogOptions = {}): Log {
  const destination =
    options.destination ?? pino.destination({ dest: 2, sync: false, maxLength: bufferedBytes })
  return withSafeErrors(pino({ name: 'quittance', level: options.level ?? 'info' }, destination))
}

/** The same log, whoever made it, writing errors without what drivers hang on them. */
export function withSafeErrors(log: Log, scrub?: (text: string) => string): Log {
  return log.child({}, { serializers: { err: (error: unknown) => safeError(error, scrub) } })
}

/** A log that says nothing: the library's default, until the app passes its own. */
export const silentLog: Log = pino({ level: 'silent' })
