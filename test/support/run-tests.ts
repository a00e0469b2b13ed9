/** Runs all test files: `node --test` would take them by their names, here the slow ones begin. */
import { globSync } from 'node:fs'
import { run } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import { globalSetup, globalTeardown } from './global-setup.ts'
import { shareProcesses } from './share-processes.ts'
import { slowFirst } from './slow-first.ts'
import slowestFiles from './slowest-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

const folder = temporaryFolder()
const tearDown = () => {
  folder.remove()
  return globalTeardown()
}
process.once('SIGINT', () => void tearDown().finally(() => process.exit(130)))

await globalSetup()
const files = slowFirst(globSync(['src/**/*.test.ts', 'test/**/*.test.ts']))
// More than cores: many files wait.
const events = run({
  files: [...shareProcesses(files, folder.path)],
  concurrency: 4,
  timeout: 300_000,
})
events.on('test:fail', () => (process.exitCode = 1))
events.once('end', () => void tearDown())
events.compose(new Spec()).pipe(process.stdout)
events.compose(slowestFiles).pipe(process.stdout)
