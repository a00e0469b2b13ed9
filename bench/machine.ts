import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from './postgres.ts'
import { quantile } from './statistics.ts'

/** What the figures depend on. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly node: string
  readonly postgres: string
  readonly durability: string
  /** Processes that wanted to run in the last minute, before the bench began. */
  readonly load: number
  /** A small write brought safely to disk in the temporary folder, in ms. */
  readonly syncMs: number
}

export function describeMachine(server: PostgresServer, folder: string): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    node: process.versions.node,
    postgres: server.version,
    durability: server.durability,
    load: loadavg()[0] ?? Number.NaN,
    syncMs: measureSync(folder),
  }
}

function measureSync(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w')
  const block = Buffer.alloc(8192)
  const durations = Array.from({ length: 50 }, () => {
    const startedAt = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return performance.now() - startedAt
  })
  closeSync(file)
  return quantile(
    durations.toSorted((a, b) => a - b),
    0.5,
  )
}
