import { pino, type DestinationStream } from 'pino'
import { createLog, type Log } from '../kernel/log.ts'

export interface CommandLog {
  readonly log: Log
  /** Writes out what still waits; before the process ends. */
  flush(): void
}

/** Bytes that may wait for a blocked sink before further lines are dropped. */
const bufferedBytes = 4 * 1024 * 1024

/** To standard error: readable lines on a terminal, JSON elsewhere. */
export async function openLog(level: 'info' | 'warn'): Promise<CommandLog> {
  if (process.stderr.isTTY) {
    return { log: createLog({ level, destination: await readableLines() }), flush: () => {} }
  }
  const destination = pino.destination({ dest: 2, sync: false, maxLength: bufferedBytes })
  return { log: createLog({ level, destination }), flush: () => destination.flushSync() }
}

async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    destination: 2,
    sync: true,
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,name',
  })
}
