import { pino } from 'pino'
import type { Log } from '../../src/kernel/log.ts'

/** A log that keeps its lines, parsed. */
export function capturedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'trace' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  return { log, lines }
}
