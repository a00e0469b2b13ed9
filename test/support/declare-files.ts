import { after, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Declares the tests of several files in this process, one file after another. Each is a suite: its
 * hooks are its own. A process that ends before all of them have fails, whatever code it ends with:
 * what it did not run, or not report, would be missed by nobody.
 */
export function declareFiles(files: readonly string[]): void {
  const unfinished = new Set(files)
  process.on('exit', () => {
    if (unfinished.size === 0) return
    process.stderr.write(`ended before its tests had: ${[...unfinished].join(', ')}\n`)
    process.exitCode = 70
  })
  for (const file of files) {
    describe(file, async () => {
      after(() => void unfinished.delete(file))
      await import(pathToFileURL(resolve(file)).href)
    })
  }
}
