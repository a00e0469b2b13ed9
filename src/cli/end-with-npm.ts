import { readFileSync } from 'node:fs'
import { seconds } from '../kernel/duration.ts'
import { codeOf } from './describe-error.ts'
import type { CommandLog } from './log.ts'

const lookEvery = seconds(1)

/**
 * Whoever ends npm means what it runs; but npm passes signals on to a shell at most, and SIGKILL to
 * nobody. Once npm is gone, this process stops as on SIGTERM, instead of keeping port and folder.
 */
export function endWithNpm({ log }: CommandLog): void {
  const npm = ancestors()
  const watch = setInterval(() => {
    if (isSame(npm)) return
    log.info('npm is gone')
    process.kill(process.pid, 'SIGTERM')
  }, lookEvery)
  watch.unref()
  // A further signal would cut an orderly stop short.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => clearInterval(watch))
  }
}

/** While too many files are open, as with very many connections, nothing can be read of them. */
function isSame(before: readonly number[]): boolean {
  try {
    return ancestors().join() === before.join()
  } catch {
    return true
  }
}

/** Up to npm: the parent, or the parent of the shell that npm has started. */
function ancestors(): readonly number[] {
  const { ppid } = process
  return isShell(ppid) ? [ppid, parentOf(ppid)] : [ppid]
}

/** `sh -c SCRIPT`. A system without /proc has a shell that makes room for the script. */
function isShell(pid: number): boolean {
  return fileOf(pid, 'cmdline').split('\0')[1] === '-c'
}

/** The second field after the name, which is in parentheses and may contain anything. */
function parentOf(pid: number): number {
  const stat = fileOf(pid, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function fileOf(pid: number, name: 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    if (/^E[MN]FILE$/.test(codeOf(error))) throw error
    // It is gone, or there is no /proc.
    return ''
  }
}
