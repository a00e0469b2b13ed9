import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { connect } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { TemplateName } from './embedded-template.ts'
import { testSchema } from './test-schema.ts'
import { emptied, mutationWorker, nextWorkerDatabase } from './worker-database.ts'

/** Name of the migrated database that the server copies: that spares each test the migrations. */
const templateVariable = 'QUITTANCE_TEST_POSTGRES_TEMPLATE'

/** Makes the template on this server; afterwards every process of the test run finds it. */
export async function makePostgresTemplate(server: string): Promise<() => Promise<void>> {
  const url = await createFrom(server, 'template0')
  await migrateAt(url)
  process.env[templateVariable] = nameIn(url)
  return async () => {
    for (const name of await workerDatabases(server, nameIn(url))) {
      await dropDatabase(server, urlOf(server, name))
    }
    await dropDatabase(server, url)
  }
}

/** The URL of a new database on this server. */
export async function createDatabase(server: string, template: TemplateName): Promise<string> {
  const migrated = process.env[templateVariable]
  if (template === 'migrated' && migrated !== undefined) {
    const worker = mutationWorker()
    return worker === undefined
      ? createFrom(server, migrated)
      : reuse(server, migrated, nextWorkerDatabase(worker, migrated))
  }
  const url = await createFrom(server, 'template0')
  if (template === 'migrated') await migrateAt(url)
  return url
}

export async function dropDatabase(server: string, url: string): Promise<void> {
  // The mutation run drops those of its workers.
  if (mutationWorker() !== undefined) return
  await onServer(server, `drop database if exists ${nameIn(url)} with (force)`)
}

async function createFrom(server: string, template: string, name = newName()): Promise<string> {
  // Logging each page of the copy costs the server four times the time.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`)
  return urlOf(server, name)
}

/** The database of this name, which the last process has left as it liked, without rows. */
async function reuse(server: string, template: string, name: string): Promise<string> {
  const url = urlOf(server, name)
  return (await emptied(url)) ? url : createFrom(server, template, name)
}

/** What the workers of a mutation run have made of the template. */
async function workerDatabases(server: string, template: string): Promise<readonly string[]> {
  const rows = await onServer<{ name: string }>(
    server,
    'select datname as name from pg_database where starts_with(datname, $1)',
    [`${template}_worker`],
  )
  return rows.map(({ name }) => name)
}

const newName = () => `quittance_test_${randomUUID().replaceAll('-', '')}`

function urlOf(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  // Also for the processes of tests: a busy machine lets a client wait.
  url.searchParams.set('connect_timeout', '60')
  return url.href
}

const nameIn = (url: string) => new URL(url).pathname.slice(1)

async function migrateAt(url: string): Promise<void> {
  const target = { kind: 'postgres', url } as const
  const { migrate } = await import('../../src/database/migrate.ts')
  const template = { log: silentLog, poolSize: 1, applicationName: 'template' }
  const database = connect({ target, ...template, schema: testSchema })
  await migrate(database)
  await database.close()
}

async function onServer<Row extends pg.QueryResultRow>(
  server: string,
  statement: string,
  values?: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await administration(server).query<Row>(statement, values && [...values])
  return rows
}

const pools = new Map<string, pg.Pool>()

/** A connection of this process to the server itself: to open one costs as much as a small test. */
function administration(server: string): pg.Pool {
  const known = pools.get(server)
  if (known !== undefined) return known
  const pool = new pg.Pool({
    connectionString: server,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  // The server ends before the process does.
  pool.on('error', () => {})
  pools.set(server, pool)
  return pool
}
