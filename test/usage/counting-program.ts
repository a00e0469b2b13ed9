import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { Database } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { muchPatience } from '../support/patience.ts'

/** Where a process dies: before the commit of its nth flush, or after it. */
export type FlushCut = `${'before' | 'after'}:${number}` | 'none'

/**
 * What one process records: units of one each. It says that it is ready, and begins once it is told
 * to on its input, so that several begin at once. It stops early where its input ends.
 */
export interface Recording {
  readonly database: BillingOptions['database']
  readonly subscriptionId: string
  /** Before the number of each record: its key. */
  readonly prefix: string
  /** Null: with new keys, until its input ends. */
  readonly count: number | null
  /** The next key is that of so many further, and begins anew after the last: each comes once. */
  readonly step: number
  readonly enforce: boolean
  /** How many are under way at the same time. */
  readonly atOnce: number
  readonly cut: FlushCut
}

export interface Recorded {
  /** How many of each result. */
  readonly results: Readonly<Record<string, number>>
  /** What was used by then, by each record that was counted. */
  readonly used: readonly number[]
  /** Why a transaction failed, also where the next try went well. */
  readonly failures: readonly string[]
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal takes a moment; nothing may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

/** Dies as it is told to, and keeps why a transaction fails. */
function watched(database: Database, cut: FlushCut, failures: string[]): Database {
  let flushes = 0
  const transaction: Database['transaction'] = async (work) => {
    flushes += 1
    const isLast = cut.endsWith(`:${flushes}`)
    try {
      const done = await database.transaction(async (one) => {
        const result = await work(one)
        if (isLast && cut.startsWith('before')) die()
        return result
      })
      if (isLast) die()
      return done
    } catch (error) {
      failures.push(String(error))
      throw error
    }
  }
  return { ...database, transaction }
}

/** What the test says by the input. */
function listen() {
  const input = createInterface({ input: process.stdin })
  const begun = Promise.withResolvers<void>()
  let hasEnded = false
  input.once('line', () => begun.resolve())
  input.once('close', () => {
    hasEnded = true
    begun.resolve()
  })
  return { begun: begun.promise, hasEnded: () => hasEnded, close: () => process.stdin.destroy() }
}

async function record(recording: Recording): Promise<Recorded> {
  const { database, subscriptionId, prefix, count, step, enforce, atOnce, cut } = recording
  const runtime = createRuntime({ database }, { patience: muchPatience })
  const { processing, queue } = await runtime.context()
  const failures: string[] = []
  const usage = createUsageGathering({
    processing: { ...processing, database: watched(processing.database, cut, failures) },
    queue,
    log: silentLog,
    deadline: 60_000,
  })
  const results: Record<string, number> = {}
  const used: number[] = []
  let next = 0
  const recordNext = async () => {
    const key = `${prefix}${count === null ? next : (next * step) % count}`
    next += 1
    const one = { subscriptionId, quota: 'api_calls', units: 1n, key, enforce }
    const [result] = await usage.record([one])
    const name = result?.result ?? 'none'
    results[name] = (results[name] ?? 0) + 1
    if (result?.result === 'counted') used.push(Number(result.used))
  }
  const input = listen()
  const lane = async () => {
    while (!input.hasEnded() && (count === null || next < count)) {
      await recordNext()
      // Whoever moves windows finds a counter that nobody holds, now and then.
      if (count === null) await pause(1)
    }
  }
  // Connects before the others begin.
  await processing.subscriptionTime(processing.database.db)
  process.stdout.write('ready\n')
  await input.begun
  await Promise.all(Array.from({ length: atOnce }, lane))
  input.close()
  await usage.close()
  await runtime.close()
  return { results, used, failures }
}

const given = process.env['RECORDING']
if (given !== undefined) {
  process.stdout.write(`${JSON.stringify(await record(JSON.parse(given) as Recording))}\n`)
}
