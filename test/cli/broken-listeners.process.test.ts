/** What ends a service from within. `start.process.test.ts` shows that a service has all of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startProcess, type Ending } from '../support/process.ts'

const urlOf = (path: string) => JSON.stringify(new URL(`../../src/cli/${path}`, import.meta.url))

/** Runs this script with what a service has: its log, its signals and its watchdog. */
function run(script: string): Promise<Ending> {
  const words = `
    import { openLog } from ${urlOf('log.ts')}
    import { endOnSignals } from ${urlOf('service-process.ts')}
    import { startWatchdog } from ${urlOf('watchdog.ts')}
    const commandLog = await openLog('info')
    const stop = async () => {}
    /** Costs nothing, unlike a loop. */
    const block = (limitMs) =>
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limitMs)
    ${script}`
  const { ended } = startProcess(['--input-type=module', '--eval', words], {
    runtime: process.execPath,
  })
  return ended
}

const saidIn = ({ stderr }: Ending) => stderr.filter((text) => text.startsWith('quittance: '))

/** Ten beats that are missed end the process. */
const watched = 'startWatchdog(100)'

test('a main thread that is blocked is ended by its watchdog, with one line', async () => {
  const ending = await run(`${watched}; setTimeout(block, 200)`)
  assert.equal(ending.signal, 'SIGKILL')
  const [line = '', ...rest] = saidIn(ending)
  assert.match(line, /main thread did not answer for 1 s — /)
  assert.deepEqual(rest, [])
})

test('a process that has stopped in order and needs longer to end is left to end', async () => {
  const ending = await run(`${watched}; process.on('exit', () => block(3_000)); process.exit(0)`)
  assert.deepEqual([ending.code, ending.signal, saidIn(ending)], [0, null, []])
})

describe('what nobody handles is logged and ends the process with exit code 1:', () => {
  const signals = 'endOnSignals({ commandLog, stop })'
  for (const [name, loose, said] of [
    [
      'an exception',
      "setTimeout(() => { throw new Error('a loose end') })",
      /"a loose end".*uncaught exception/,
    ],
    [
      'a rejection',
      "void Promise.reject(new Error('a loose end')); setTimeout(() => {}, 60_000)",
      /"a loose end".*unhandled rejection/,
    ],
  ] as const) {
    test(name, async () => {
      const { code, stderr } = await run(`${signals}; ${loose}`)
      assert.equal(code, 1)
      const fatal = stderr.filter((text) => text.includes('"level":60'))
      assert.equal(fatal.length, 1, stderr.join('\n'))
      assert.match(fatal[0] ?? '', said)
    })
  }
})

test('one of several stops in order, though its supervisor passes a signal on that it has got itself', async () => {
  const { code, stderr } = await run(`
    const toItself = (signal) => process.kill(process.pid, signal)
    endOnSignals({
      commandLog,
      isSupervised: true,
      stop: () => {
        toItself('SIGTERM')
        return new Promise((stopped) => process.once('SIGTERM', () => setImmediate(stopped)))
      },
    })
    setTimeout(() => {}, 60_000)
    // The supervisor decides about it.
    process.once('SIGINT', () => toItself('SIGTERM'))
    toItself('SIGINT')`)
  assert.equal(code, 0, stderr.join('\n'))
  const said = stderr.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
  assert.deepEqual(said, ['stopping', 'stopped'])
})
