import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import type { BillingCore } from '../../src/billing/types.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime, type Runtime } from '../../src/billing/runtime.ts'
import type { Database } from '../../src/database/connect.ts'
import { postgres, type TestEngine } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { muchPatience } from '../support/patience.ts'
import { startProcess } from '../support/process.ts'
import type { Recorded, Recording } from './counting-program.ts'

const file = fileURLToPath(new URL('counting-program.ts', import.meta.url))

/** A billing whose database other processes share. */
export interface Shop extends AsyncDisposable {
  readonly core: BillingCore
  readonly runtime: Runtime
  readonly database: Database
  /** What further processes open. */
  readonly shared: BillingOptions['database']
}

export async function openShop(engine: TestEngine): Promise<Shop> {
  const place = await placeOf(engine)
  const runtime = createRuntime({ database: place.own }, { patience: muchPatience })
  const core = coreOf(runtime)
  const { database } = await runtime.opened()
  const close = async () => {
    await core.close()
    await place.remove()
  }
  return { core, runtime, database, shared: place.shared, [Symbol.asyncDispose]: close }
}

async function placeOf(engine: TestEngine) {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    return { own: { url }, shared: { url }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  const shared = { dataDir, attach: true }
  return { own: { dataDir }, shared, remove: async () => remove() }
}

/** Processes that record at the same time. */
export interface RecordingProcesses {
  /** Those that go on record no more. */
  end(): void
  /** What each has done, in order; fails if one of its transactions did. */
  readonly ended: Promise<readonly (Recorded | 'killed')[]>
}

/** None begins before all are ready to. */
export async function startRecording(
  recordings: readonly Partial<Recording>[],
): Promise<RecordingProcesses> {
  const running = recordings.map((recording) => {
    const full = {
      prefix: 'k',
      count: 100,
      step: 1,
      enforce: false,
      atOnce: 50,
      cut: 'none',
      ...recording,
    }
    const env = { RECORDING: JSON.stringify(full) }
    return startProcess([], { file, env, stdin: 'pipe' })
  })
  await Promise.all(running.map(({ line }) => line(/^ready$/)))
  for (const { child } of running) child.stdin?.write('begin\n')
  const recorded = running.map(async ({ ended }) => {
    const { signal, code, stdout, stderr } = await ended
    if (signal === 'SIGKILL') return 'killed'
    assert.equal(code, 0, stderr.join('\n'))
    const done = JSON.parse(stdout.at(-1) ?? '') as Recorded
    assert.deepEqual(done.failures, [])
    return done
  })
  const end = () => {
    for (const { child } of running) child.stdin?.end()
  }
  return { end, ended: Promise.all(recorded) }
}

/** What each has done once all of them are through. */
export async function recordAll(
  recordings: readonly Partial<Recording>[],
): Promise<readonly (Recorded | 'killed')[]> {
  return (await startRecording(recordings)).ended
}

/** How many records of each process had this result. */
export function countsOf(all: readonly (Recorded | 'killed')[], result: string): readonly number[] {
  return all.map((one) => (one === 'killed' ? 0 : (one.results[result] ?? 0)))
}

export function sum(all: readonly (Recorded | 'killed')[], result: string): number {
  return countsOf(all, result).reduce((total, count) => total + count, 0)
}

/**
 * How many records each window has counted, most first: in each of them what was used rose from 1 by
 * one. What one process wrote over the count of another would be there twice, or missing.
 */
export function windowsOf(all: readonly (Recorded | 'killed')[]): readonly number[] {
  /** By what was used: in how many windows that was. */
  const times = new Map<number, number>()
  for (const one of all) {
    if (one === 'killed') continue
    for (const used of one.used) times.set(used, (times.get(used) ?? 0) + 1)
  }
  return Array.from({ length: times.get(1) ?? 0 }, (_, place) => {
    const ofWindow = [...times].flatMap(([used, count]) => (count > place ? [used] : []))
    assert.equal(Math.max(...ofWindow), ofWindow.length)
    return ofWindow.length
  })
}

export async function usedOf(
  { core }: Pick<Shop, 'core'>,
  id: string,
): Promise<bigint | undefined> {
  return (await core.usage.get(id, 'api_calls'))?.used
}

/** Does this again and again, beside what it is for. */
export async function beside(
  work: readonly (() => Promise<unknown>)[],
  what: () => Promise<void>,
): Promise<void> {
  let isOver = false
  const repeat = async (one: () => Promise<unknown>) => {
    while (!isOver) await one()
  }
  const done = what().finally(() => {
    isOver = true
  })
  await Promise.all([done, ...work.map(repeat)])
}
