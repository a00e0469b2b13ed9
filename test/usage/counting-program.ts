import { setTimeout as pause } from 'node:timers/promises'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { Database } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'

/** Where a process dies: before the commit of its nth flush, or after it. */
export type FlushCut = `${'before' | 'after'}:${number}` | 'none'

/** What one process records: units of one each. */
export interface Recording {
  readonly database: BillingOptions['database']
  readonly subscriptionId: string
  /** Before the number of each record: its key. */
  readonly prefix: string
  readonly count: number
  readonly enforce: boolean
  /** How many are under way at the same time. */
  readonly atOnce: number
  /** Goes on for so long, with new keys; left out: until all are recorded. */
  readonly milliseconds?: number
  readonly cut: FlushCut
}

/** How many of each result. */
export type Recorded = Readonly<Record<string, number>>

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal takes a moment; nothing may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

function dying(database: Database, cut: FlushCut): Database {
  let flushes = 0
  const transaction: Database['transaction'] = async (work) => {
    flushes += 1
    const isLast = cut.endsWith(`:${flushes}`)
    const done = await database.transaction(async (one) => {
      const result = await work(one)
      if (isLast && cut.startsWith('before')) die()
      return result
    })
    if (isLast) die()
    return done
  }
  return { ...database, transaction }
}

async function record(recording: Recording): Promise<Recorded> {
  const { database, subscriptionId, prefix, count, enforce, atOnce, milliseconds, cut } = recording
  const runtime = createRuntime({ database })
  const { processing, queue } = await runtime.context()
  const usage = createUsageGathering({
    processing: { ...processing, database: dying(processing.database, cut) },
    queue,
    log: silentLog,
    deadline: 60_000,
  })
  const results: Record<string, number> = {}
  const until = performance.now() + (milliseconds ?? 0)
  let next = 0
  const lane = async () => {
    while (milliseconds === undefined ? next < count : performance.now() < until) {
      const key = `${prefix}${next}`
      next += 1
      const one = { subscriptionId, quota: 'api_calls', units: 1n, key, enforce }
      const [result] = await usage.record([one])
      const name = result?.result ?? 'none'
      results[name] = (results[name] ?? 0) + 1
      if (milliseconds !== undefined) await pause(1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  await usage.close()
  await runtime.close()
  return results
}

const given = process.env['RECORDING']
if (given !== undefined) {
  process.stdout.write(`${JSON.stringify(await record(JSON.parse(given) as Recording))}\n`)
}
