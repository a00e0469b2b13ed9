import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { shareProcesses } from './share-processes.ts'
import { slowest } from './slow-first.ts'
import { temporaryFolder } from './temporary-folder.ts'

const run = promisify(execFile)

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).toSorted()

/** The test files that this one runs: itself, or those that it loads. */
function ranBy(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path]
  const [, list = ''] = /declareFiles\(([^)]*)\)/.exec(readFileSync(path, 'utf8')) ?? []
  return JSON.parse(list) as string[]
}

test('each test file is run once, the slow ones first, many in a shared process', () => {
  using folder = temporaryFolder()
  const started = shareProcesses(files, folder.path)
  assert.ok(started.length < files.length / 2)
  assert.deepEqual(started.flatMap(ranBy).toSorted(), files)
  assert.deepEqual(started.slice(0, slowest.length).toSorted(), slowest.toSorted())
  for (const path of started) assert.ok(ranBy(path).length > 0, `${path} runs nothing`)
})

test('a file that starts processes has its own, which ends what a failed test left', () => {
  using folder = temporaryFolder()
  const shared = shareProcesses(files, folder.path).filter((path) => path.endsWith('.mjs'))
  const starting = /child_process|support\/(?:process|deployment|command-host|own-server)\.ts/
  const odd = shared.flatMap(ranBy).filter((file) => starting.test(readFileSync(file, 'utf8')))
  assert.deepEqual(odd, [])
})

/** Runs these files in one process; what node:test says of them. */
async function runTogether(files: Readonly<Record<string, string>>, loadWithin?: number) {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'src'))
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder.path, name), `import { beforeEach, test } from 'node:test'\n${text}`)
  }
  // Four names of one process, the first of each four.
  const names = Object.keys(files).flatMap((name) => [name, 'src/none', 'src/none', 'src/none'])
  const shared = shareProcesses(names, folder.path).find((path) => path.includes('unit-tests-1'))
  assert.ok(shared !== undefined)
  if (loadWithin !== undefined) {
    writeFileSync(shared, readFileSync(shared, 'utf8').replace(/\)\n$/, `, ${loadWithin})\n`))
  }
  const options = { cwd: folder.path, env: { PATH: process.env['PATH'] } }
  return await run(process.execPath, ['--test-reporter=tap', shared], options).catch(
    (error: { readonly stdout: string }) => error,
  )
}

function resultsIn(tap: string) {
  return [...tap.matchAll(/^ *((?:not )?ok \d+ - \S+)/gm)].map(([, line]) => line)
}

test('hooks of one file are not those of another, and a file that fails is named', async () => {
  const { stdout } = await runTogether({
    'src/first.test.mjs': `
      beforeEach(() => { throw new Error('only here') })
      test('first', () => {})`,
    'src/second.test.mjs': "test('second', () => {})",
    'src/third.test.mjs': "throw new Error('cannot be loaded')",
  })
  assert.deepEqual(resultsIn(stdout), [
    'not ok 1 - first',
    'not ok 1 - src/first.test.mjs',
    'ok 1 - second',
    'ok 2 - src/second.test.mjs',
    'not ok 3 - src/third.test.mjs',
  ])
})

test('a file whose import never ends fails by its name, and the files after it run', async () => {
  const files = {
    'src/first.test.mjs': "test('first', () => {})",
    'src/second.test.mjs': 'setInterval(() => {}, 1_000); await new Promise(() => {})',
    'src/third.test.mjs': "test('third', () => {})",
  }
  const { stdout } = await runTogether(files, 1_000)
  assert.deepEqual(resultsIn(stdout), [
    'ok 1 - first',
    'ok 1 - src/first.test.mjs',
    'not ok 2 - src/second.test.mjs',
    'ok 1 - third',
    'ok 3 - src/third.test.mjs',
  ])
  assert.match(stdout, /src\/second\.test\.mjs is not loaded after 1 s/)
})

test('a process that ends before all of its tests have fails', async () => {
  const files = {
    'src/first.test.mjs': "test('first', () => {})",
    'src/second.test.mjs': "test('second', () => process.exit(0))",
    'src/third.test.mjs': "test('third', () => { throw new Error('never seen') })",
  }
  const ended = await runTogether(files)
  assert.ok('code' in ended && 'stderr' in ended)
  const { code, stderr } = ended
  const unfinished = 'src/second.test.mjs, src/third.test.mjs'
  assert.deepEqual(
    { code, stderr },
    { code: 70, stderr: `ended before its tests had: ${unfinished}\n` },
  )
})
