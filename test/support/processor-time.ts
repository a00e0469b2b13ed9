import { appendFileSync, readdirSync, readFileSync } from 'node:fs'

interface Usage {
  readonly parent: number
  /** Of the process and of its children that have ended and were waited for. */
  readonly seconds: number
  readonly childrenSeconds: number
}

/** What `sysconf(_SC_CLK_TCK)` is on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Undefined where there is no such process, and where the system is not Linux. */
function usageOf(pid: number | 'self'): Usage | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The program's name stands in parentheses and may hold anything; the third field follows it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  const childrenSeconds = (field(16) + field(17)) / ticksPerSecond
  const own = (field(14) + field(15)) / ticksPerSecond
  return { parent: field(4), seconds: own + childrenSeconds, childrenSeconds }
}

/** Processor time of this process with its ended children; seconds. Without `/proc`, of it alone. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return usageOf('self')?.seconds ?? (user + system) / 1e6
}

/** Processor time of this process's ended children, with theirs; seconds. */
export const endedChildren = () => usageOf('self')?.childrenSeconds ?? 0

/** Processor time so far of all running processes below this one, with their ended children. */
export function runningDescendants(): number {
  const usages = new Map(
    readdirSync('/proc').flatMap((name) => {
      const usage = /^\d+$/.test(name) ? usageOf(Number(name)) : undefined
      return usage === undefined ? [] : [[Number(name), usage] as const]
    }),
  )
  const isBelow = (pid: number): boolean => {
    const parent = usages.get(pid)?.parent
    return parent === process.pid || (parent !== undefined && parent > 1 && isBelow(parent))
  }
  return [...usages].reduce((sum, [pid, { seconds }]) => (isBelow(pid) ? sum + seconds : sum), 0)
}

/** Names the file into which the test files of a run write what they cost. */
export const costsVariable = 'QUITTANCE_TEST_COSTS'

export interface Cost {
  readonly file: string
  readonly seconds: number
}

export function recordCost(cost: Cost): void {
  const path = process.env[costsVariable]
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(cost)}\n`)
}
