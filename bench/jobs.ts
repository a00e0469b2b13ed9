import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Clients of pgbench; the best of them counts. */
const clientCounts = [4, 8, 16]
const script = fileURLToPath(new URL('job.sql', import.meta.url))

/**
 * J: jobs a second, each with its statements in a transaction of its own, as pgbench does them with
 * prepared statements. No worker that commits call by call can be faster. Undefined without pgbench.
 * The database has this many pending calls; all of them are done afterwards.
 */
export async function jobsPerSecond(url: string, calls: number): Promise<number | undefined> {
  const each = Math.floor(calls / clientCounts.length)
  let best: number | undefined
  for (const clients of clientCounts) {
    const rate = await runPgbench(url, { clients, transactions: Math.floor(each / clients) })
    if (rate === undefined) return undefined
    best = Math.max(best ?? 0, rate)
  }
  return best
}

interface PgbenchRun {
  readonly clients: number
  /** Of each client. */
  readonly transactions: number
}

async function runPgbench(
  url: string,
  { clients, transactions }: PgbenchRun,
): Promise<number | undefined> {
  const threads = Math.min(clients, availableParallelism())
  const flags = ['--no-vacuum', '--protocol=prepared', `--file=${script}`, `--client=${clients}`]
  const counts = [`--jobs=${threads}`, `--transactions=${transactions}`]
  try {
    const { stdout } = await promisify(execFile)('pgbench', [...flags, ...counts, url])
    const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? []
    if (rate === undefined) throw new Error(`pgbench said no rate: ${stdout}`)
    return Number(rate)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
