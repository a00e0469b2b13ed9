/**
 * Runs test files in the tree that it lies in, one after another, with a database server of its own.
 * `main.ts` starts it, and sends what to run.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { cheapFlags } from '../support/run-files.ts'
import { preloadFlag } from '../support/preload.ts'
import { globalSetup, globalTeardown } from '../support/global-setup.ts'
import { endedChildren, runningDescendants } from '../support/processor-time.ts'
import { takeReached, turnOn } from './tree.ts'

export interface FileRun {
  readonly file: string
  /** Which mutant is on; empty: none. */
  readonly mutant: string
  readonly limitSeconds: number
}

export interface FileResult {
  readonly file: string
  readonly passed: boolean
  readonly seconds: number
  /** Of the processor, in the file's processes and in the database server. */
  readonly processorSeconds: number
  /** The mutants that it reached. */
  readonly reached: readonly string[]
}

const folder = process.cwd()
const logs = join(folder, 'logs')

async function runFile({ file, mutant, limitSeconds }: FileRun): Promise<FileResult> {
  turnOn(folder, mutant)
  takeReached(folder)
  const begun = performance.now()
  const before = { ended: endedChildren(), database: runningDescendants() }
  const log = openSync(join(logs, `${file.replaceAll('/', '-')}.log`), 'w')
  const child = spawn(process.execPath, [...cheapFlags, preloadFlag, file], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  const timer = setTimeout(() => killGroup(child.pid), limitSeconds * 1000)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  killGroup(child.pid)
  closeSync(log)
  const database = runningDescendants() - before.database
  return {
    file,
    passed: code === 0,
    seconds: (performance.now() - begun) / 1000,
    processorSeconds: endedChildren() - before.ended + database,
    reached: takeReached(folder),
  }
}

/** What the file has left running, too. */
function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

mkdirSync(logs, { recursive: true })
turnOn(folder, '')
await globalSetup()
process.on('message', (run: FileRun | 'end') => {
  if (run === 'end') void globalTeardown().then(() => process.exit(0))
  else void runFile(run).then((result) => process.send?.(result))
})
process.send?.('ready')
