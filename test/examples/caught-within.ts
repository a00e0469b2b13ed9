import { existsSync } from 'node:fs'
import type { RunningProcess } from '../support/process.ts'

/**
 * Whether the process is within a transaction of SQLite, which has this journal: then it has been
 * stopped there, and a kill will find it there. Else it goes on.
 */
export function isCaughtWithin({ child }: RunningProcess, journal: string): boolean {
  if (!existsSync(journal)) return false
  child.kill('SIGSTOP')
  if (existsSync(journal)) return true
  child.kill('SIGCONT')
  return false
}
