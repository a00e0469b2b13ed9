import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { seconds } from '../../src/kernel/duration.ts'
import { within } from '../../src/kernel/within.ts'
import { unfinished } from './preload.ts'
import { processorTime, recordCost } from './processor-time.ts'
import { releaseRunnerHooks } from './runner-hook.ts'

/** Names a limit for the loading of one file; for tests of it. */
export const loadSecondsVariable = 'QUITTANCE_TEST_LOAD_SECONDS'

/** What tests replace; a clock that stands keeps the tests of the next file waiting for ever. */
function clocksOfProcess(): readonly unknown[] {
  const { setTimeout, setInterval, clearTimeout, Date } = globalThis
  return [performance.now, setTimeout, setInterval, clearTimeout, Date, Date.now]
}

/**
 * Declares the tests of several files in this process, one file after another. Each is a suite: its
 * hooks are its own. A file that is not loaded in time fails: what it waits for at its top would
 * hold up all files after it.
 */
export function declareFiles(files: readonly string[]): void {
  const loadWithin = seconds(Number(process.env[loadSecondsVariable] ?? 600))
  for (const file of files) unfinished.add(file)
  let stuck = false
  let undeclared = files.length
  const clocks = clocksOfProcess()
  for (const file of files) {
    describe(file, async () => {
      let begun = 0
      before(() => {
        begun = processorTime()
      })
      after(() => {
        unfinished.delete(file)
        assert.deepEqual(clocksOfProcess(), clocks, `${file} leaves a clock of its own behind`)
        recordCost({ file, seconds: processorTime() - begun })
      })
      const late = () => {
        stuck = true
        const reason = `${file} is not loaded after ${loadWithin / 1000} s: what does it await?`
        // The process may end before its tests are summed up.
        process.stderr.write(`${reason}\n`)
        return new Error(reason)
      }
      await within(loadWithin, late, () => import(pathToFileURL(resolve(file)).href))
      undeclared -= 1
      if (undeclared === 0) releaseRunnerHooks()
    })
  }
  after(() => {
    // What such a file has open would keep the process.
    if (stuck) setTimeout(() => process.exit(70), 1_000)
  })
}
