/**
 * What holds in every process of tests; `preloadFlag` loads it before anything else.
 *
 * A file that starts processes is named `*.process.test.ts`. No other file starts one: no browser,
 * no compiler, no npm. So `npm test` stays quick, and a file cannot move out of it to make it so.
 */
import { ChildProcess } from 'node:child_process'
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { after } from 'node:test'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { minutes, type Duration } from '../../src/kernel/duration.ts'
import { processorTime, recordCost } from './processor-time.ts'

/** Whether a file starts processes; `none`: a start fails; `some`: a file without one fails. */
type Starts = 'none' | 'some' | 'any'

/** Files of this process whose tests have not all ended. */
export const unfinished = new Set<string>()

/** The one process that commands run in, one after another, has the program loaded already. */
const commandHost = 'command-host-process.ts'

let started = 0

function countStart(words: readonly unknown[], starts: Starts): void {
  if (words.some((word) => String(word).endsWith(commandHost))) return
  started++
  if (starts !== 'none') return
  throw new Error(
    `a test outside the smoke set starts a process: ${words.join(' ')}\n` +
      'Name its file *.process.test.ts, or test a part that needs no process.',
  )
}

function watchStarts(starts: Starts): void {
  const methods = ChildProcess.prototype as unknown as {
    spawn(options: { readonly file: string; readonly args?: readonly string[] }): unknown
  }
  const { spawn } = methods
  methods.spawn = function (this: unknown, options) {
    countStart([options.file, ...(options.args ?? [])], starts)
    return spawn.call(this, options)
  }
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
    const start = childProcess[name] as (...words: unknown[]) => unknown
    const watched = (...words: unknown[]) => {
      countStart(
        words.flat().filter((word) => typeof word === 'string'),
        starts,
      )
      return start(...words)
    }
    Object.assign(childProcess, { [name]: watched })
  }
  syncBuiltinESMExports()
}

/**
 * Ends a process that something keeps open after its tests: it fails, and says what is open. Node's
 * own limit is for tests alone, so the whole run would wait.
 */
function endInTime(file: string, limit: Duration): void {
  after(() => {
    unfinished.delete(file)
    // It fires only where something else keeps the process.
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`its tests have ended, and it does not: ${open}\n`)
      process.exit(70)
    }, limit).unref()
  })
}

/** What is wrong with the file at its end, though its tests may have passed. */
function faultOf(starts: Starts): string | undefined {
  if (unfinished.size > 0) return `ended before its tests had: ${[...unfinished].join(', ')}`
  if (starts === 'none' && started > 0) return 'started a process, and caught the error'
  // Elsewhere all of its tests may be skipped.
  const isNeeded = starts === 'some' && process.env['CI'] === 'true'
  return isNeeded && started === 0 ? 'starts no process: name it *.test.ts' : undefined
}

function checkAtExit(file: string, starts: Starts): void {
  process.on('exit', () => {
    // What several files share, each of them records.
    if (file.endsWith('.ts')) recordCost({ file, seconds: processorTime() })
    const fault = faultOf(starts)
    if (fault === undefined) return
    process.stderr.write(`${file}: ${fault}\n`)
    process.exitCode = 70
  })
}

function startsIn(file: string): Starts {
  if (file.endsWith('.process.test.ts')) return 'some'
  return /\/test\/(?:smoke|long)\//.test(file) ? 'any' : 'none'
}

const startsOfMainThread = 'quittance starts'

export function preload(): void {
  // A thread begins with the flags of its process, and a forked process with those of its parent.
  if (!isMainThread) return watchStarts(getEnvironmentData(startsOfMainThread) as Starts)
  const file = process.argv[1] ?? ''
  const isRunner = process.execArgv.includes('--test')
  if (isRunner || !/\.(?:test|long)\.ts$|\/share-\d+\.mjs$/.test(file)) return
  const starts = startsIn(file)
  setEnvironmentData(startsOfMainThread, starts)
  watchStarts(starts)
  unfinished.add(file)
  endInTime(file, minutes(3))
  checkAtExit(file, starts)
}

/** The flag of Node for a process that does this before anything else. */
export const preloadFlag = `--import=${new URL('preloaded.ts', import.meta.url).href}`
