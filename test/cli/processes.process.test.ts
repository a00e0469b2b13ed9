import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openBrowser } from '../console/browser.ts'
import { consolePath, signIn, signInPath } from '../console/console-service.ts'
import { childrenOf } from '../support/children-of.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  assertPaidOnce,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { freePort, startProcess, startService, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

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

const statusAt = async (url: string) =>
  (await fetch(url, { redirect: 'manual' }).catch(() => undefined))?.status

onPostgres((engine) => {
  let deployment: OpenDeployment
  let service: RunningService
  let operations = ''
  /** The place of Node. */
  let folder: TemporaryFolder
  const there = () => join(folder.path, 'bin')
  const away = () => join(folder.path, 'old')
  let ofConsole = 0
  before(async () => {
    deployment = await deployOpen(engine)
    folder = temporaryFolder()
    mkdirSync(there())
    const node = join(there(), 'node')
    copyFileSync(process.execPath, node)
    operations = `http://127.0.0.1:${await freePort()}`
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: new URL(operations).port }
    service = await startService({ ...deployment, env, node, args: ['--processes', '2'] })
    await service.line(/a further process serves/)
    // It starts before the others.
    ;[ofConsole = 0] = children()
  })
  after(async () => {
    await service.kill()
    await deployment.remove()
    folder.remove()
  })
  const children = () => childrenOf(service.child.pid)
  const serving = () => children().filter((pid) => pid !== ofConsole)
  const counted = (text: string) => service.stderr.filter((line) => line.includes(text)).length
  const further = () => counted('a further process serves')
  const unstarted = () => counted('a process could not be started')
  const killOne = () => {
    const [pid = assert.fail()] = serving()
    process.kill(pid, 'SIGKILL')
    return pid
  }

  test('two processes share one port, and each outcome is told once', async () => {
    assert.equal(serving().length, 2)
    const ids = Array.from({ length: 40 }, () => randomUUID())
    await Promise.all(ids.map((id) => createOverHttp(service.url, id)))
    const twice = [...ids, ...ids]
    const statuses = await Promise.all(twice.map((id) => postFake(service.url, id, 'success')))
    assert.deepEqual([...new Set(statuses)], [200])
    await finished(deployment.database)
    await assertPaidOnce(deployment.database, ids)
  })

  test('wrong tokens are counted by all of them together', async () => {
    const guess = () =>
      new Promise<number | undefined>((answered) => {
        // A connection of its own: they go to the processes in turn.
        const headers = { authorization: 'Bearer wrong' }
        const url = new URL('/billing/api/payments', service.url)
        get(url, { agent: false, headers }, (answer) => answered(answer.resume().statusCode))
      })
    const statuses: (number | undefined)[] = []
    for (let tries = 0; tries < 12; tries += 1) statuses.push(await guess())
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429, 429])
  })

  test('one of them has the console, on the port for operations; its end is nothing to the others', async () => {
    assert.equal(await statusAt(service.url + signInPath), 404)
    const browser = await signIn(
      openBrowser((request) => fetch(request), operations),
      apiToken,
    )
    assert.equal((await browser.open(`${consolePath}/payments`)).status, 200)
    // What is done there is in the sum of all.
    const metrics = await (await fetch(`${operations}/metrics`)).text()
    assert.match(metrics, /^quittance_sign_ins_total\{result="signed_in"\} 1$/m)
    const others = serving()
    process.kill(ofConsole, 'SIGKILL')
    assert.equal(await statusAt(`${service.url}/healthz`), 200)
    const isBack = async () => (await statusAt(operations + signInPath)) === 200
    await until(isBack, { what: 'the console is there again' })
    ofConsole = children().find((pid) => !others.includes(pid)) ?? 0
    assert.deepEqual(serving(), others)
  })

  test('a process that dies is replaced, and the other one serves meanwhile, also where Node is gone for a while', async () => {
    const [first, other = 0] = serving()
    let killed = false
    // Connections are on their way to it all the time.
    const connecting = Array.from({ length: 16 }, async () => {
      while (!killed) await connectOnce(service.url)
    })
    await Promise.all(Array.from({ length: 4 }, () => connectOnce(service.url)))
    renameSync(there(), away())
    assert.equal(killOne(), first)
    await service.line(new RegExp(`"ended":${first}.*a process ended; another one starts`))
    killed = true
    await Promise.all(connecting)
    await until(() => unstarted() > 0, { what: 'none can be started' })
    assert.deepEqual(serving(), [other])
    // A connection that led to the dead process is gone.
    const created = () => createOverHttp(service.url, randomUUID()).catch(() => false)
    await until(created, { what: 'an answer' })
    renameSync(away(), there())
    await until(() => further() === 2, { what: 'another one serves' })
    assert.equal(serving().length, 2)
    assert.ok(serving().includes(other))
  })

  test('one that cannot start ends with the reason, and is replaced in its turn', async () => {
    const halfWritten = join(deployment.cwd, 'quittance.config.ts')
    writeFileSync(halfWritten, `throw new Error('half written')`)
    killOne()
    await service.line(/half written/)
    await service.line(/"code":1.*a process ended; another one starts/)
    rmSync(halfWritten)
    await until(() => further() === 3, { what: 'another one serves' })
  })

  test('where Node is somewhere else none is started; SIGTERM stops all of them in order', async () => {
    const before = unstarted()
    renameSync(there(), away())
    writeFileSync(there(), '')
    killOne()
    await until(() => unstarted() > before, { what: 'none is started' })
    assert.ok(await createOverHttp(service.url, randomUUID()))
    const all = children()
    assert.equal(all.length, 2)
    const { code, stderr } = await service.stop()
    assert.equal(code, 0, stderr.join('\n'))
    for (const pid of all) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    assert.equal(counted('"msg":"stopped"'), all.length)
  })

  /** With its first process, which is not ready yet. */
  async function startUnready(env: Readonly<Record<string, string>> = {}) {
    const starting = startProcess(['serve', '--processes', '2'], {
      cwd: deployment.cwd,
      env: { ...deployment.env, HOST: '127.0.0.1', PORT: String(await freePort()), ...env },
    })
    const started = () => childrenOf(starting.child.pid)
    await until(() => started().length === 1, { what: 'the first process starts' })
    return { ...starting, first: started()[0] ?? assert.fail() }
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} while the first process starts stops them in order`, async () => {
      const { child, first, ended } = await startUnready()
      child.kill(signal)
      // As that of systemd, or of a terminal, it reaches each of them.
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
    const { ended } = await startUnready({ DATABASE_URL: 'postgres://127.0.0.1:1/billing' })
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /^quittance: .*127\.0\.0\.1:1/m)
  })
})
