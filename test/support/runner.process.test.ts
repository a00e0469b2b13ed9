/** What fails a file though each of its tests passes: such a file would tell nobody that it tests nothing. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { loadSecondsVariable } from './share-files.ts'
import { preloadFlag } from './preload.ts'
import { shareProcesses } from './share-processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passing = `import { test } from 'node:test'
test('passes', () => {})
`
const starting = `import { test } from 'node:test'
import { spawnSync } from 'node:child_process'
test('passes', () => { try { spawnSync('true') } catch {} })
`
const skipping = `import { test } from 'node:test'
test('is skipped', { skip: true }, () => {})
`
const inThread = `import { test } from 'node:test'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
const code = "data:text/javascript,import { spawnSync } from 'node:child_process'; spawnSync('true')"
test('passes', async () => { await once(new Worker(new URL(code)), 'exit') })
`
const ending = `${passing}process.exit(0)
`
const unloadable = `throw new Error('cannot be loaded')
`
const leavingClock = `${passing}globalThis.Date = class extends Date {}
`
const loading = `await new Promise((end) => setTimeout(end, 60_000))
`

interface Run {
  readonly name: string
  readonly code: string
  readonly isShared?: boolean
  readonly env?: NodeJS.ProcessEnv
}

function run({ name, code, isShared = false, env = {} }: Run) {
  using folder = temporaryFolder()
  const file = join(folder.path, name)
  writeFileSync(file, code)
  const [shared = ''] = isShared
    ? shareProcesses([file], { folder: folder.path, processes: 1 })
    : []
  const words = [preloadFlag, isShared ? shared : file]
  return spawnSync(process.execPath, words, {
    encoding: 'utf8',
    env: { ...ownVariables(), ...env },
  })
}

/** This process's, without what its own runner and CI have set. */
function ownVariables(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, QUITTANCE_TEST_COSTS: _costs, CI: _ci, ...own } = process.env
  return own
}

function assertPasses(file: Run): void {
  const { status, stdout, stderr } = run(file)
  assert.equal(status, 0, `${stdout}${stderr}`)
}

function assertFails(file: Run, reason: RegExp): void {
  const { status, stdout, stderr } = run(file)
  assert.notEqual(status, 0, stdout)
  assert.match(`${stdout}${stderr}`, reason)
}

test('a file that starts no process passes, alone and shared', () => {
  assertPasses({ name: 'one.test.ts', code: passing })
  assertPasses({ name: 'one.test.ts', code: passing, isShared: true })
})

test('a start fails a file of another name, though the file catches the error', () => {
  assertPasses({ name: 'one.process.test.ts', code: starting })
  assertFails({ name: 'one.test.ts', code: starting }, /started a process/)
  assertFails({ name: 'one.test.ts', code: inThread }, /starts a process/)
})

test('a file of processes starts one; in CI also where it skips its tests', () => {
  assertPasses({ name: 'one.process.test.ts', code: skipping })
  const env = { CI: 'true' }
  assertFails({ name: 'one.process.test.ts', code: passing, env }, /starts no process/)
})

test('a file that ends its process before its tests have ended fails', () => {
  assertFails({ name: 'one.test.ts', code: ending }, /ended before its tests had: .*one\.test\.ts/)
  const shared = { name: 'one.test.ts', code: ending, isShared: true }
  assertFails(shared, /ended before its tests had: .*one\.test\.ts/)
})

test('a shared file that is not loaded in time fails, and ends', () => {
  const env = { [loadSecondsVariable]: '1' }
  assertFails(
    { name: 'one.test.ts', code: loading, isShared: true, env },
    /is not loaded after 1 s/,
  )
})

test('a shared file that leaves a clock behind fails', () => {
  const file = { name: 'one.test.ts', code: leavingClock, isShared: true }
  assertFails(file, /one\.test\.ts leaves a clock/)
})

test('processes that share files run each once, also after one that cannot be loaded', async () => {
  using folder = temporaryFolder()
  const ran = join(folder.path, 'ran')
  const names = Array.from({ length: 20 }, (_, at) => `${at}.test.ts`)
  const files = names.map((name) => {
    const file = join(folder.path, name)
    const note = `import { appendFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(ran)}, ${JSON.stringify(`${name}\n`)})
`
    writeFileSync(file, name === '3.test.ts' ? note + unloadable : note + passing)
    return file
  })
  const shares = shareProcesses(files, { folder: folder.path, processes: 2 })
  const ends = await Promise.all(
    shares.map(async (share) => {
      const { stdout } = spawn(process.execPath, [preloadFlag, share], { env: ownVariables() })
      return text(stdout)
    }),
  )
  const notes = readFileSync(ran, 'utf8').trim().split('\n')
  assert.deepEqual(notes.toSorted(), names.toSorted())
  assert.equal(ends.filter((printed) => printed.includes('cannot be loaded')).length, 1)
})
