import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/billing.ts'
import { childrenOf } from '../support/children-of.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { freePort, startProcess, startService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const quittance = `"${process.execPath}" "${mainFile}"`
const serve = `${quittance} serve`

const left = new Set<number>()
after(() => {
  for (const pid of left) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The process itself, if it has started no other. */
function lastDescendant(pid: number): number {
  const [child] = childrenOf(pid)
  return child === undefined ? pid : lastDescendant(child)
}

/** A service that `command` starts in a folder of its own. */
async function startBy(command: string, ...args: readonly string[]) {
  const folder = temporaryFolder()
  const cwd = folder.path
  const data = join(cwd, '.quittance')
  fillDataFolder(data)
  const scripts = { start: serve, listen: `${quittance} listen --forward-to http://127.0.0.1:9/` }
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts }))
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { PORT: new URL(url).port }
  const [file = '', ...rest] = args
  const parent = startProcess(rest, { node: command, file, cwd, env })
  await parent.line(/^In a browser/)
  const { pid } = JSON.parse(readFileSync(join(data, 'owner.json'), 'utf8')) as { pid: number }
  left.add(pid)
  return { parent, pid, url, cwd, env, remove: folder.remove }
}

test('once npm has got SIGTERM, the service ends and leaves port and folder free; so does what listens to it', async () => {
  const { parent, pid, cwd, env, remove } = await startBy('npm', 'start')
  assert.ok(isRunning(pid))
  parent.child.kill('SIGTERM')
  await until(async () => !isRunning(pid), { what: 'the service has ended' })
  const { stdout, stderr } = await parent.ended
  assert.ok([...stdout, ...stderr].some((line) => line.includes('"msg":"stopped"')))
  const next = await startService({ cwd, env })
  const listening = startProcess(['run', 'listen'], { runtime: 'npm', cwd, env })
  await listening.line(/Ctrl-C ends it/)
  const listener = lastDescendant(listening.child.pid ?? 0)
  left.add(listener)
  listening.child.kill('SIGTERM')
  await until(async () => !isRunning(listener), { what: 'what listens has ended' })
  assert.equal((await next.stop()).code, 0)
  remove()
})

test('a service that npm has not started outlives its parent', async () => {
  const { parent, pid, url, remove } = await startBy('sh', '-c', `${serve} & wait`)
  await new Promise((end) => {
    parent.child.once('exit', end)
    parent.child.kill('SIGKILL')
  })
  await new Promise((wait) => setTimeout(wait, 2_500))
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  process.kill(pid, 'SIGTERM')
  await until(async () => !isRunning(pid), { what: 'the service has ended' })
  remove()
})
