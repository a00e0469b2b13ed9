import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { safeError } from './safe-error.ts'

/** One JSON line per entry. Secrets never reach it; callers bound the fields. */
export type Log = Logger

export interface LogOptions {
  readonly level: string
  readonly destination: DestinationStream
  /** Takes an entry about this error, which is not written then; false: it is. */
  readonly takes?: ((error: unknown) => boolean) | undefined
}

export function createLog({ level, destination, takes }: LogOptions): Log {
  const hooks: LoggerOptions['hooks'] = takes && {
    logMethod(entry, method) {
      if (!takes(errorOf(entry[0]))) method.apply(this, entry)
    },
  }
  const options = { name: 'quittance', level, ...(hooks && { hooks }) }
  return withSafeErrors(pino(options, destination))
}

function errorOf(fields: unknown): unknown {
  return typeof fields === 'object' && fields !== null && 'err' in fields ? fields.err : undefined
}

/** The same log, but it writes errors without what drivers attach to them. */
export function withSafeErrors(log: Log, scrub?: (text: string) => string): Log {
  return log.child({}, { serializers: { err: (error: unknown) => safeError(error, scrub) } })
}

/** A log that says nothing: the library's default, until the app passes its own. */
export const silentLog: Log = pino({ level: 'silent' })
