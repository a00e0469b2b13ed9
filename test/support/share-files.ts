import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { seconds } from '../../src/kernel/duration.ts'
import { within } from '../../src/kernel/within.ts'
import { unfinished } from './preload.ts'
import { processorTime, recordCost } from './processor-time.ts'
import { holdRunnerHooks, releaseRunnerHooks } from './runner-hook.ts'
import { recordStatements } from './sent-statements.ts'
import { takes } from './share-processes.ts'

/** Names a limit for the loading of one file; for tests of it. */
export const loadSecondsVariable = 'QUITTANCE_TEST_LOAD_SECONDS'

/** What tests replace; a clock that stands keeps the tests of the next file waiting for ever. */
function clocksOfProcess(): readonly unknown[] {
  const { setTimeout, setInterval, clearTimeout, Date } = globalThis
  return [performance.now, setTimeout, setInterval, clearTimeout, Date, Date.now]
}

/**
 * Runs the tests of files that no other process has taken, one file after another. Each is a suite:
 * its hooks are its own.
 */
export async function shareFiles(files: readonly string[], taken: string): Promise<void> {
  const clocks = clocksOfProcess()
  recordStatements()
  for (const [at, file] of files.entries()) {
    if (takes(at, taken)) await runFile(file, clocks)
  }
}

function runFile(file: string, clocks: readonly unknown[]): Promise<void> {
  unfinished.add(file)
  return new Promise((ended) => {
    holdRunnerHooks()
    describe(file, async () => {
      let begun = 0
      before(() => {
        begun = processorTime()
      })
      try {
        await load(file)
      } finally {
        // The last hook of the suite: the file's own have run.
        after(() => {
          unfinished.delete(file)
          recordCost({ file, seconds: processorTime() - begun })
          ended()
          assert.deepEqual(clocksOfProcess(), clocks, `${file} leaves a clock of its own behind`)
        })
        releaseRunnerHooks()
      }
    })
  })
}

/** A file that is not loaded in time fails, and its process ends. The other processes go on. */
async function load(file: string): Promise<void> {
  const limit = seconds(Number(process.env[loadSecondsVariable] ?? 600))
  const late = () => {
    const reason = `${file} is not loaded after ${limit / 1000} s: what does it await?`
    // The process may end before its tests are summed up.
    process.stderr.write(`${reason}\n`)
    // What the file has open would keep the process.
    setTimeout(() => process.exit(70), 1_000)
    return new Error(reason)
  }
  await within(limit, late, () => import(pathToFileURL(resolve(file)).href))
}
