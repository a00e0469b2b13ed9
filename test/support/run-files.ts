import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import type { Duration } from '../../src/kernel/duration.ts'
import { endDescendants } from './end-descendants.ts'
import { preloadFlag } from './preload.ts'

/**
 * PGlite is 9 MB of WebAssembly, which V8 compiles for each process and then again, for speed, what is
 * used most. No test file runs for long enough to win that time back. As in `test:only`.
 * What lives for one test dies young if the young have room. Threads that collect beside the program
 * cost more than they save where each core runs tests.
 */
export const cheapFlags = ['--liftoff-only', '--max-semi-space-size=64', '--single-threaded-gc']

/** At once. More than cores: many tests wait for a pause of the product. */
export const processes = availableParallelism() + 2

export const testFiles = () => globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).toSorted()

interface Run {
  readonly signal: AbortSignal
  /** Of one test: a file may take as long as its tests do. */
  readonly limit: Duration
}

/** Runs test files, each in a process of its own; prints what fails, and the summary. */
export function runFiles(files: readonly string[], { signal, limit }: Run): Promise<void> {
  const events = run({
    files: [...files],
    concurrency: processes,
    timeout: limit,
    execArgv: [...cheapFlags, preloadFlag],
    signal,
  })
  events.on('test:fail', () => (process.exitCode ||= 1))
  events.compose(new Spec()).pipe(process.stdout, { end: false })
  return new Promise((end) => events.once('end', end))
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

/** A signal ends the processes of tests, and what they have started, before what they use. */
export function endOnSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const [name, code] of Object.entries(exitCodes)) {
    process.once(name, () => {
      process.exitCode = code
      endDescendants()
      stopping.abort()
    })
  }
  return stopping.signal
}
