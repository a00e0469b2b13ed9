import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/billing.ts'
import { childrenOf } from '../support/children-of.ts'
import { onPostgres } from '../support/databases.ts'
import {
  assertPaidOnce,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import {
  freePort,
  runCommand,
  startProcess,
  startService,
  type RunningService,
} from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A connection of its own. One that is on its way to a process that dies is never answered. */
function connectOnce(url: string): Promise<void> {
  return new Promise((ended) => {
    const signal = AbortSignal.timeout(1_000)
    const asked = get(new URL('/healthz', url), { agent: false, signal }, (answer) => {
      answer.resume().once('close', ended)
    })
    asked.once('error', () => ended())
  })
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let service: RunningService
  before(async () => {
    deployment = await deployOpen(engine)
    service = await startService({ ...deployment, args: ['--processes', '2'] })
    await service.line(/a further process serves/)
  })
  after(() => deployment.remove())

  test('two processes share one port, and each outcome is told once', async () => {
    assert.equal(childrenOf(service.child.pid).length, 2)
    const ids = Array.from({ length: 40 }, () => randomUUID())
    await Promise.all(ids.map((id) => createOverHttp(service.url, id)))
    const twice = [...ids, ...ids]
    const statuses = await Promise.all(twice.map((id) => postFake(service.url, id, 'success')))
    assert.deepEqual([...new Set(statuses)], [200])
    await finished(deployment.database)
    await assertPaidOnce(deployment.database, ids)
  })

  test('a process that dies is replaced, and the other one serves meanwhile', async () => {
    const [first = 0, ...others] = childrenOf(service.child.pid)
    let killed = false
    // Connections are on their way to it all the time.
    const connecting = Array.from({ length: 16 }, async () => {
      while (!killed) await connectOnce(service.url)
    })
    await pause(100)
    process.kill(first, 'SIGKILL')
    await pause(200)
    killed = true
    await Promise.all(connecting)
    await service.line(new RegExp(`"ended":${first}.*a process ended; another one starts`))
    const id = randomUUID()
    // A connection that led to the dead process is gone.
    await until(() => createOverHttp(service.url, id).catch(() => false), { what: 'an answer' })
    await until(
      () => {
        const now = childrenOf(service.child.pid)
        return now.length === 2 && !now.includes(first) && others.every((one) => now.includes(one))
      },
      { what: 'another process has started', limitMs: 30_000 },
    )
    const serving = () => service.stderr.filter((line) => line.includes('a further process serves'))
    await until(() => serving().length === 2, { what: 'it serves' })
  })

  test('one that cannot start ends with the reason, and is replaced in its turn', async () => {
    const serving = () => service.stderr.filter((line) => line.includes('a further process serves'))
    const before = serving().length
    const halfWritten = join(deployment.cwd, 'quittance.config.ts')
    writeFileSync(halfWritten, `throw new Error('half written')`)
    const [child = 0] = childrenOf(service.child.pid)
    process.kill(child, 'SIGKILL')
    await service.line(/half written/)
    await service.line(/"code":1.*a process ended; another one starts/)
    rmSync(halfWritten)
    await until(() => serving().length > before, { what: 'another one serves', limitMs: 30_000 })
  })

  test('SIGTERM stops all of them in order', async () => {
    const children = childrenOf(service.child.pid)
    const { code, stderr } = await service.stop()
    assert.equal(code, 0, stderr.join('\n'))
    for (const pid of children) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    assert.equal(stderr.filter((line) => line.includes('"msg":"stopped"')).length, 2)
  })

  test('SIGTERM that reaches each of them, as that of systemd does, stops them in order', async () => {
    const all = await startService({ ...deployment, args: ['--processes', '2'] })
    await all.line(/a further process serves/)
    for (const pid of childrenOf(all.child.pid)) process.kill(pid, 'SIGTERM')
    const { code, stderr } = await all.stop()
    assert.equal(code, 0, stderr.join('\n'))
    assert.equal(stderr.filter((line) => line.includes('"msg":"stopped"')).length, 2)
  })

  for (const [fault, replace] of [
    ['is gone', () => {}],
    ['is somewhere else', (folder: string) => writeFileSync(folder, '')],
  ] as const) {
    test(`where Node ${fault}, another process is started once it is back, and the others serve`, async () => {
      using folder = temporaryFolder()
      const [there, away] = ['bin', 'old'].map((name) => join(folder.path, name))
      assert.ok(there !== undefined && away !== undefined)
      mkdirSync(there)
      const node = join(there, 'node')
      copyFileSync(process.execPath, node)
      const args = ['--processes', '2']
      const all = await startService({ ...deployment, node, args })
      const counted = (text: string) => all.stderr.filter((line) => line.includes(text)).length
      const loseOne = async () => {
        const before = counted('could not be started')
        renameSync(there, away)
        replace(there)
        process.kill(childrenOf(all.child.pid)[0] ?? assert.fail(), 'SIGKILL')
        await until(() => counted('could not be started') > before, { what: 'none is started' })
      }
      const serving = () => counted('a further process serves')
      await until(() => serving() === 1, { what: 'the second one serves' })
      await loseOne()
      assert.equal(childrenOf(all.child.pid).length, 1)
      assert.ok(await createOverHttp(all.url, randomUUID()))
      rmSync(there, { force: true })
      renameSync(away, there)
      await until(() => serving() === 2, { what: 'another one serves', limitMs: 30_000 })
      await loseOne()
      const { code, stderr } = await all.stop()
      assert.equal(code, 0, stderr.join('\n'))
    })
  }

  /** With its first process, which is not ready yet. */
  async function startUnready() {
    const env = { ...deployment.env, HOST: '127.0.0.1', PORT: String(await freePort()) }
    const starting = startProcess(['serve', '--processes', '2'], { cwd: deployment.cwd, env })
    const children = () => childrenOf(starting.child.pid)
    await until(() => children().length === 1, { what: 'the first process starts' })
    return { ...starting, first: children()[0] ?? assert.fail() }
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} while the first process starts stops them in order`, async () => {
      const { child, first, ended } = await startUnready()
      child.kill(signal)
      process.kill(first, signal)
      const { code, stderr } = await ended
      assert.equal(code, 0, stderr.join('\n'))
    })
  }

  test('that the first process was killed before it served is said, and ends the start', async () => {
    const { first, ended } = await startUnready()
    process.kill(first, 'SIGKILL')
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /SIGKILL.*the first process was ended before it served/)
  })

  test('a first process that cannot start says why, and ends the start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const env = { ...deployment.env, HOST: '127.0.0.1', PORT: String(port) }
    const options = { cwd: deployment.cwd, env }
    const { code, stderr } = await runCommand(['serve', '--processes', '2'], options)
    taken.close()
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /^quittance: .*port \d+ is in use/m)
  })

  test('a setting that is wrong is reported once, and ends the start', async () => {
    const env = { ...deployment.env, BILLING_QUEUE_CONNECTION: 'redis' }
    const options = { cwd: deployment.cwd, env }
    const { code, stderr } = await runCommand(['serve', '--processes', '2'], options)
    assert.equal(code, 1)
    assert.equal(stderr.length, 1)
  })

  test('the embedded database belongs to one process', async () => {
    const { cwd } = deployment
    const { code, stderr } = await runCommand(['serve', '--processes', '2'], { cwd, env: {} })
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /needs a PostgreSQL server: the embedded database belongs to/)
  })

  test('a count that is none is refused with the usage', async () => {
    for (const count of ['0', '1.5', 'many', '65']) {
      const { code, stderr } = await runCommand(['serve', '--processes', count])
      assert.equal(code, 2)
      assert.match(stderr.join('\n'), /must be a number from 1 to 64, or auto/)
    }
  })
})
