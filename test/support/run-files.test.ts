import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporary-folder.ts'
import { until } from './until.ts'

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
/** Without the mark of a test run: within one no other begins. */
const env = { PATH: process.env['PATH'] }

test('npm test takes no files: it refuses them, and says what does', async () => {
  const args = [fileOf('run-tests.ts'), 'test/tidy/packages.test.ts', 'src/a.test.ts']
  const ending = promisify(execFile)(process.execPath, args, { env, timeout: 10_000 })
  await assert.rejects(ending, {
    code: 2,
    stdout: '',
    stderr:
      'npm test runs all files. For some of them: ' +
      'npm run test:only -- test/tidy/packages.test.ts src/a.test.ts\n',
  })
})

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  test(`a run that gets ${signal} ends its test files and what they started, then tears down`, async () => {
    using folder = temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    const quoted = (name: string) => JSON.stringify(at(name))
    writeFileSync(
      at('hanging.test.mjs'),
      `import { spawn } from 'node:child_process'
      import { writeFileSync } from 'node:fs'
      import { test } from 'node:test'
      test('hangs', () => {
        const waiting = ['-e', 'setInterval(() => {}, 1_000)']
        const child = spawn(process.execPath, waiting, { stdio: 'ignore' })
        writeFileSync(${quoted('pids')}, process.pid + ' ' + child.pid)
        return new Promise(() => {})
      })`,
    )
    writeFileSync(
      at('runner.mjs'),
      `import { existsSync, writeFileSync } from 'node:fs'
      import { runFiles } from ${JSON.stringify(new URL('run-files.ts', import.meta.url).href)}
      await runFiles({
        prepare: async () => [${quoted('hanging.test.mjs')}],
        tearDown: async () => writeFileSync(${quoted('torn-down')}, ''),
      })`,
    )
    const runner = spawn(process.execPath, [at('runner.mjs')], { env, stdio: 'ignore' })
    const ended = once(runner, 'exit')
    await until(async () => existsSync(at('pids')) && readFileSync(at('pids')).length > 0, {
      what: 'the test hangs',
    })
    const pids = readFileSync(at('pids'), 'utf8').split(' ').map(Number)
    runner.kill(signal)
    assert.deepEqual(await ended, [code, null])
    await until(async () => !pids.some(isAlive), { what: 'the file and what it started are gone' })
    assert.ok(existsSync(at('torn-down')))
  })
}

test('a file that does not end after its tests fails, says what is open, and the next one runs', async () => {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  const begin = "import { test } from 'node:test'\n"
  writeFileSync(at('a.mjs'), `${begin}test('opens', () => void setInterval(() => {}, 1_000))`)
  writeFileSync(at('b.mjs'), `${begin}test('runs', () => {})`)
  const files = JSON.stringify([at('a.mjs'), at('b.mjs')])
  writeFileSync(
    at('runner.mjs'),
    `import { runFiles } from ${JSON.stringify(new URL('run-files.ts', import.meta.url).href)}
    const done = async () => {}
    await runFiles({ prepare: async () => ${files}, tearDown: done, endWithin: 500 })`,
  )
  const running = promisify(execFile)(process.execPath, [at('runner.mjs')], { env })
  const ended = await running.catch((error: { code: number; stdout: string }) => error)
  assert.ok('code' in ended)
  assert.equal(ended.code, 1)
  assert.match(ended.stdout, /✔ opens/)
  assert.match(ended.stdout, /✔ runs/)
  assert.match(ended.stdout, /✖ \S+a\.mjs/)
  assert.match(ended.stdout, /its tests have ended, and it does not: .*Timeout/)
})
