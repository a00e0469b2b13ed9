import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import type { Duration } from '../../src/kernel/duration.ts'
import { endDescendants } from './end-descendants.ts'
import { flagToEndInTime, longestEnd } from './end-in-time.ts'
import slowestFiles from './slowest-files.ts'

interface TestRun {
  /** What the files need; returns them in the order in which they begin. */
  prepare(): Promise<readonly string[]>
  tearDown(): Promise<void>
  /** How long a process may go on after its tests. */
  readonly endWithin?: Duration
}

/**
 * PGlite is 9 MB of WebAssembly, which V8 compiles for each process and then again, for speed, what is
 * used most. No test file runs for long enough to win that time back. As in `test:only`.
 */
const cheapDatabase = ['--liftoff-only']

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs test files, each in a process of its own. A signal ends these, and what they have started,
 * before what they use.
 */
export async function runFiles({
  prepare,
  tearDown,
  endWithin = longestEnd,
}: TestRun): Promise<void> {
  const stopping = new AbortController()
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.once(signal, () => {
      process.exitCode = code
      endDescendants()
      stopping.abort()
    })
  }
  const files = await prepare()
  // One more than cores, for many files wait; with two more, what a slow machine has is late too often.
  const events = run({
    files: [...files],
    concurrency: availableParallelism() + 1,
    timeout: 300_000,
    execArgv: [...cheapDatabase, flagToEndInTime(endWithin)],
    signal: stopping.signal,
  })
  events.on('test:fail', () => (process.exitCode ||= 1))
  events.once('end', () => void tearDown())
  events.compose(new Spec()).pipe(process.stdout)
  events.compose(slowestFiles).pipe(process.stdout)
}
