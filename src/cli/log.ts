import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { pino, type DestinationStream } from 'pino'
import { seconds } from '../kernel/duration.ts'
import { createLog, type Log, type LogOptions } from '../kernel/log.ts'

export interface CommandLog {
  readonly log: Log
  /** A line for people, in order with those of the log. */
  say(line: string): void
  /** Writes out what still waits before the process ends; nothing can be logged afterwards. */
  flush(): Promise<void>
}

/** Bytes that may wait for a blocked sink before further lines are dropped. */
const bufferedBytes = 4 * 1024 * 1024
/** Maybe nobody is reading: that must not keep the process alive. */
const flushLimit = seconds(1)

/** To standard error: readable lines on a terminal, JSON elsewhere. */
export async function openLog(
  level: 'info' | 'warn',
  takes?: LogOptions['takes'],
): Promise<CommandLog> {
  if (process.stderr.isTTY) {
    return {
      log: createLog({ level, destination: await readableLines(), takes }),
      say: (line) => void process.stderr.write(`${line}\n`),
      flush: () => Promise.resolve(),
    }
  }
  const sink = pino.destination({ dest: 2, sync: false, maxLength: bufferedBytes })
  let open = true
  // Only `write`: pino would flush a fatal line synchronously, and wait for a reader for ever.
  const destination = { write: (text: string) => void (open && sink.write(text)) }
  return {
    log: createLog({ level, destination, takes }),
    say: (line) => destination.write(`${line}\n`),
    async flush() {
      if (!open) return
      open = false
      const finished = once(sink, 'finish')
      sink.end()
      // The rest of the limit must not keep the process alive either.
      const limit = new AbortController()
      await Promise.race([finished, pause(flushLimit, undefined, { signal: limit.signal })])
      limit.abort()
      sink.destroy()
    },
  }
}

async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    destination: 2,
    sync: true,
    colorize: process.stderr.getColorDepth() > 1,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,name',
  })
}
