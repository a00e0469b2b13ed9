import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A service whose listener of PaymentSucceeded has this body. */
function startWithListener(folder: string, body: string): Promise<RunningService> {
  fillDataFolder(join(folder, '.quittance'))
  writeFileSync(
    join(folder, 'quittance.config.js'),
    `export default { listeners: { broken: { on: 'PaymentSucceeded', run() { ${body} } } } }`,
  )
  return startService({ cwd: folder })
}

/** Posts the callback that the start's output shows for its sample payment. */
async function settleSample({ line, url }: RunningService): Promise<void> {
  const [, id = ''] = /pending: ([0-9a-f-]+)/.exec(await line(/A sample payment is pending/)) ?? []
  const body = JSON.stringify({ payment_id: id, result: 'success' })
  const answer = await fetch(`${url}/billing/webhooks/fake`, { method: 'POST', body })
  assert.equal(answer.status, 200)
}

// The first two wait for ten and twelve seconds of real time: the others run meanwhile.
suite('a broken listener', { concurrency: true }, () => {
  test('a listener that blocks the CPU ends the process with one line after ten seconds', async () => {
    using folder = temporaryFolder()
    const service = await startWithListener(folder.path, 'for (;;) {}')
    await settleSample(service)
    const began = performance.now()
    const { signal, stderr } = await service.ended
    assert.equal(signal, 'SIGKILL')
    assert.ok(performance.now() - began > 8_000)
    const lines = stderr.filter((text) => text.startsWith('quittance: '))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /main thread did not answer for 10 s — /)
  })

  test('a process that has stopped in order and needs twelve seconds to end is left to end', async () => {
    using folder = temporaryFolder()
    const lingering = `
      process.once('SIGTERM', () => process.on('exit', () =>
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000)))`
    writeFileSync(join(folder.path, 'quittance.config.js'), `${lingering}; export default {}`)
    fillDataFolder(join(folder.path, '.quittance'))
    const service = await startService({ cwd: folder.path })
    const { code, signal, stderr } = await service.stop()
    assert.deepEqual([code, signal], [0, null])
    assert.deepEqual(
      stderr.filter((text) => text.startsWith('quittance: ')),
      [],
    )
  })

  for (const [what, body, said] of [
    [
      'an exception that nobody catches',
      "setTimeout(() => { throw new Error('a loose end') }, 50)",
      /uncaught exception/,
    ],
    [
      'a rejection that nobody handles',
      "void Promise.reject(new Error('a loose end'))",
      /unhandled rejection/,
    ],
  ] as const) {
    test(`${what} is logged and ends the process with exit code 1`, async () => {
      using folder = temporaryFolder()
      const service = await startWithListener(folder.path, body)
      await settleSample(service)
      const { code, stderr } = await service.ended
      assert.equal(code, 1)
      const fatal = stderr.filter((text) => text.includes('"level":60'))
      assert.equal(fatal.length, 1)
      assert.match(fatal[0] ?? '', said)
      assert.match(fatal[0] ?? '', /a loose end/)
    })
  }
})
