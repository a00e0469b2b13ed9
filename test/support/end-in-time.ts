import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import { seconds, type Duration } from '../../src/kernel/duration.ts'

export const longestEnd = seconds(60)

/**
 * A process of tests that does not end after them fails, and says what is open: the whole run would
 * wait for it, and node's own limit is for tests alone. A file that declares tests later than that after
 * its others have ended would be cut off.
 */
export function endInTime(limit: Duration = longestEnd): void {
  // Threads begin with the flags of their process.
  if (!isMainThread) return
  after(() => {
    // It fires only where something else keeps the process.
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`its tests have ended, and it does not: ${open}\n`)
      process.exit(70)
    }, limit).unref()
  })
}

/** The flag of a process that does this before anything else. */
export function flagToEndInTime(limit: Duration): string {
  const from = JSON.stringify(import.meta.url)
  const module = `import { endInTime } from ${from}; endInTime(${limit})`
  return `--import=data:text/javascript,${encodeURIComponent(module)}`
}
