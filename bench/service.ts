import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Database, type DatabaseTarget } from '../src/database/connect.ts'
import { findEmbedded } from '../src/database/embedded/find-embedded.ts'
import { minutes } from '../src/kernel/duration.ts'
import { silentLog } from '../src/kernel/log.ts'
import type { PostgresServer } from './postgres.ts'
import { product, start, type Running } from './processes.ts'
import { signingSecret } from './requests.ts'
import type { Settings } from './settings.ts'

export interface BenchOptions {
  readonly server: PostgresServer
  readonly settings: Settings
  /** For embedded databases, and settings files. */
  readonly folder: string
  progress(text: string): void
}

/** Which listener the measured service has. */
export type ListenerKind = 'no listener' | 'a listener inserts a row' | 'a queued listener'

const listeners: Readonly<Record<ListenerKind, string>> = {
  'no listener': '',
  'a listener inserts a row': `
    async function teller(event, { tx }) {
      await tx.query('insert into told (payment_id) values ($1)', [event.payment.id])
    }
    export default { listeners: { teller: { on: 'PaymentSucceeded', run: teller } } }`,
  'a queued listener': `
    async function mailer() {}
    export default { listeners: { mailer: { on: 'PaymentSucceeded', run: mailer, queued: true } } }`,
}

export interface ServiceOptions {
  readonly command: readonly ['serve' | 'work', ...string[]]
  readonly listener: ListenerKind
  /** The database that it gets a copy of: a URL, or a folder of the embedded one. */
  readonly copyOf: { readonly url: string } | { readonly dataDir: string }
  /** A settings file, where there is no listener. */
  readonly config?: string
  /** The program; by default that of this checkout. */
  readonly main?: string
}

export interface Service {
  readonly running: Running<{ readonly url: string }>
  readonly database: Database
  stop(): Promise<void>
}

let count = 0

/** A process of the product on a fresh copy of a database. */
export async function startService(
  { command, listener, copyOf, config = listeners[listener], main = product }: ServiceOptions,
  { server, folder }: BenchOptions,
): Promise<Service> {
  count += 1
  const cwd = join(folder, `service-${count}`)
  mkdirSync(cwd)
  if (config !== '') writeFileSync(join(cwd, 'quittance.config.js'), config)
  const shared = { HOST: '127.0.0.1', PORT: '0', STRIPE_SIGNING_SECRET: signingSecret }
  const [env, findTarget] =
    'url' in copyOf ? await onPostgres(server, copyOf.url) : onEmbedded(cwd, copyOf.dataDir)
  const running = await start<{ readonly url: string }>([main, ...command, '--json'], {
    cwd,
    env: { ...shared, ...env },
  })
  const database = open(await findTarget())
  const stop = async () => {
    await database.close()
    await running.stop()
  }
  return { running, database, stop }
}

type Environment = Readonly<Record<string, string>>
type FindTarget = () => Promise<DatabaseTarget>

async function onPostgres(
  server: PostgresServer,
  copyOf: string,
): Promise<readonly [Environment, FindTarget]> {
  const url = await server.create(copyOf)
  return [{ DATABASE_URL: url }, () => Promise.resolve({ kind: 'postgres', url })]
}

function onEmbedded(cwd: string, copyOf: string): readonly [Environment, FindTarget] {
  const dataDir = join(cwd, 'data')
  cpSync(copyOf, dataDir, { recursive: true })
  const target = async () => ({ kind: 'embedded', ...(await findEmbedded(dataDir)) }) as const
  return [{ BILLING_DATA_DIR: dataDir }, target]
}

export function open(target: DatabaseTarget): Database {
  // What is counted afterwards may have to be written to disk first.
  const statementTimeout = minutes(1)
  return connect({
    target,
    log: silentLog,
    poolSize: 1,
    applicationName: 'bench',
    statementTimeout,
  })
}
