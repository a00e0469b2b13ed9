import { after, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { seconds, type Duration } from '../../src/kernel/duration.ts'
import { within } from '../../src/kernel/within.ts'

/**
 * Declares the tests of several files in this process, one file after another. Each is a suite: its
 * hooks are its own. A process that ends before all of them have fails, whatever code it ends with:
 * what it did not run, or not report, would be missed by nobody. So does a file that is not loaded
 * in time: what it waits for at its top would hold up all files after it.
 */
export function declareFiles(files: readonly string[], loadWithin: Duration = seconds(60)): void {
  const unfinished = new Set(files)
  process.on('exit', () => {
    if (unfinished.size === 0) return
    process.stderr.write(`ended before its tests had: ${[...unfinished].join(', ')}\n`)
    process.exitCode = 70
  })
  let stuck = false
  for (const file of files) {
    describe(file, async () => {
      after(() => void unfinished.delete(file))
      const late = () => {
        stuck = true
        return new Error(`${file} is not loaded after ${loadWithin / 1000} s: what does it await?`)
      }
      await within(loadWithin, late, () => import(pathToFileURL(resolve(file)).href))
    })
  }
  after(() => {
    // What such a file has open would keep the process.
    if (stuck) setTimeout(() => process.exit(70), 1_000)
  })
}
