import { describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Declares the tests of several files in this process, one file after another. Each is a suite: its
 * hooks are its own.
 */
export function declareFiles(files: readonly string[]): void {
  for (const file of files) {
    describe(file, async () => {
      await import(pathToFileURL(resolve(file)).href)
    })
  }
}
