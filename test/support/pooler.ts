import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** PgBouncer, which gives a server connection to a client for one transaction only. */
export interface Pooler {
  /** The database through it. */
  readonly url: string
  stop(): Promise<void>
}

const program = '/usr/sbin/pgbouncer'

/** Why the tests of poolers cannot run here. */
export const noPooler = existsSync(program)
  ? false
  : `there is no ${program} (apt install pgbouncer)`

const limits = 'statement_timeout, lock_timeout, idle_in_transaction_session_timeout'

/** With a few server connections, so that clients share them. */
export async function startPooler(
  databaseUrl: string,
  { ignoresLimits }: { readonly ignoresLimits: boolean },
): Promise<Pooler> {
  const server = new URL(databaseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'quittance-pooler-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const name = server.pathname.slice(1)
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `${name} = host=${server.hostname} port=${server.port} dbname=${name} user=${server.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
    ...(ignoresLimits ? [`ignore_startup_parameters = ${limits}`] : []),
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...account, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<void>((end) => child.once('exit', () => end()))
  let said = ''
  const ready = new Promise<void>((done) => {
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString()
      if (said.includes('process up')) done()
    })
  })
  await Promise.race([
    ready,
    ended.then(() => {
      throw new Error(`PgBouncer ended: ${said}`)
    }),
  ])
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    stop: async () => {
      child.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
