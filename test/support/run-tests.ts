/** Runs all test files: `node --test` would take them by their names, here the slow ones begin. */
import { globSync } from 'node:fs'
import { globalSetup, globalTeardown } from './global-setup.ts'
import { runFiles } from './run-files.ts'
import { shareProcesses } from './share-processes.ts'
import { slowFirst } from './slow-first.ts'
import { temporaryFolder } from './temporary-folder.ts'

const given = process.argv.slice(2)
if (given.length > 0) {
  const some = `npm run test:only -- ${given.join(' ')}`
  process.stderr.write(`npm test runs all files. For some of them: ${some}\n`)
  process.exitCode = 2
} else {
  const folder = temporaryFolder()
  await runFiles({
    prepare: async () => {
      await globalSetup()
      const files = slowFirst(globSync(['src/**/*.test.ts', 'test/**/*.test.ts']))
      return shareProcesses(files, folder.path)
    },
    tearDown: () => {
      folder.remove()
      return globalTeardown()
    },
  })
}
