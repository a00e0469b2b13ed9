import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { shareProcesses } from './share-processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const run = promisify(execFile)

test('each test file is run once, those beside the code in a few processes', () => {
  using folder = temporaryFolder()
  const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  const started = shareProcesses(files, folder.path)
  assert.ok(started.length < files.length / 1.5)
  const ran = started.flatMap((path) => {
    if (!path.startsWith(folder.path)) return [path]
    const [, list = ''] = /declareFiles\(([^)]*)\)/.exec(readFileSync(path, 'utf8')) ?? []
    return JSON.parse(list) as string[]
  })
  assert.deepEqual(ran.toSorted(), files.toSorted())
})

/** Runs these files of one process; what node:test says of them. */
async function runTogether(files: Readonly<Record<string, string>>) {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'src'))
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder.path, name), `import { beforeEach, test } from 'node:test'\n${text}`)
  }
  // Four names of one process, the first of each four.
  const names = Object.keys(files).flatMap((name) => [name, 'src/none', 'src/none', 'src/none'])
  const [shared = ''] = shareProcesses(names, folder.path)
  const options = { cwd: folder.path, env: { PATH: process.env['PATH'] } }
  return await run(process.execPath, ['--test-reporter=tap', shared], options).catch(
    (error: { readonly stdout: string }) => error,
  )
}

test('hooks of one file are not those of another, and a file that fails is named', async () => {
  const { stdout } = await runTogether({
    'src/first.test.mjs': `
      beforeEach(() => { throw new Error('only here') })
      test('first', () => {})`,
    'src/second.test.mjs': "test('second', () => {})",
    'src/third.test.mjs': "throw new Error('cannot be loaded')",
  })
  const results = [...stdout.matchAll(/^ *((?:not )?ok \d+ - \S+)/gm)].map(([, line]) => line)
  assert.deepEqual(results, [
    'not ok 1 - first',
    'not ok 1 - src/first.test.mjs',
    'ok 1 - second',
    'ok 2 - src/second.test.mjs',
    'not ok 3 - src/third.test.mjs',
  ])
})
