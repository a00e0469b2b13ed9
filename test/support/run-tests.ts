/**
 * `npm test`: the tests that start no process, and the smoke set. `npm run test:all`: the tests that
 * start processes. `npm run test:long`: all tests on both kinds of database, and the long ones.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { hours, minutes } from '../../src/kernel/duration.ts'
import { bothVariable } from './databases.ts'
import { globalSetup, globalTeardown } from './global-setup.ts'
import { costsVariable, processorTime, type Cost } from './processor-time.ts'
import { endOnSignal, processes, runFiles, testFiles } from './run-files.ts'
import { statementsVariable } from './sent-statements.ts'
import { shareProcesses } from './share-processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const isSmoke = (file: string) => file.startsWith('test/smoke/')
const startsProcesses = (file: string) => file.endsWith('.process.test.ts')
const all = testFiles()
const smoke = all.filter(isSmoke)
const withProcesses = all.filter((file) => !isSmoke(file) && startsProcesses(file))
const others = all.filter((file) => !isSmoke(file) && !startsProcesses(file))

const signal = endOnSignal()
using folder = temporaryFolder()
const costs = join(folder.path, 'costs')
const statements = join(folder.path, 'statements')

/** Only ends a test that hangs: a test of the bench takes a minute of a quiet machine. */
const limit = minutes(20)

const quick = () => [...smoke, ...shareProcesses(others, { folder: folder.path, processes })]

const rungs = {
  quick: async () => {
    await runFiles(quick(), { signal, limit })
    await runFiles(['test/tidy/sent-statements.after.ts'], { signal, limit })
  },
  processes: () => runFiles(withProcesses, { signal, limit }),
  long: () => {
    process.env[bothVariable] = 'both'
    const long = globSync('test/long/*.long.ts').toSorted()
    return runFiles([...long, ...withProcesses, ...quick()], { signal, limit: hours(1) })
  },
} as const

const begun = performance.now()
const [name = 'quick', ...rest] = process.argv.slice(2)
if (!Object.hasOwn(rungs, name) || rest.length > 0) {
  const files = [name, ...rest].join(' ')
  process.stderr.write(`a run takes no files. For some of them: npm run test:only -- ${files}\n`)
  process.exit(2)
}
for (const [name, file] of [
  [costsVariable, costs],
  [statementsVariable, statements],
] as const) {
  writeFileSync(file, '')
  process.env[name] = file
}
try {
  await globalSetup()
  await rungs[name as keyof typeof rungs]()
} finally {
  await globalTeardown()
}
printCosts()

/** Of the processor, as what a run costs by the clock depends on the machine's other work. */
function printCosts(): void {
  const lines = readFileSync(costs, 'utf8').split('\n').filter(Boolean)
  const files = lines.map((line) => JSON.parse(line) as Cost)
  const dearest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10)
  const shown = dearest.map(
    ({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative('.', file)}\n`,
  )
  const inMinutes = (seconds: number) => (seconds / 60).toFixed(1)
  process.stdout.write(
    `\nprocessor time: ${inMinutes(processorTime())} min, with the database server, ` +
      `in ${inMinutes((performance.now() - begun) / 1000)} min; the dearest files:\n${shown.join('')}`,
  )
}
