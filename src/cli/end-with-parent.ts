import { seconds } from '../kernel/duration.ts'
import type { CommandLog } from './log.ts'

const lookEvery = seconds(1)

/**
 * npm runs a script in a shell, and passes SIGTERM on to the shell alone: the shell ends, and this
 * process would keep port and folder. Once its parent is another one, it stops as on SIGTERM.
 */
export function endWithParent({ log }: Pick<CommandLog, 'log'>): void {
  const { ppid } = process
  const watch = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(watch)
    log.info('npm is gone')
    process.kill(process.pid, 'SIGTERM')
  }, lookEvery)
  watch.unref()
  // A further signal would cut an orderly stop short.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => clearInterval(watch))
  }
}
