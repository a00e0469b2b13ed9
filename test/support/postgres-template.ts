import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { connect } from '../../src/database/connect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { TemplateName } from './embedded-template.ts'

/** Name of the migrated database that the server copies: that spares each test the migrations. */
const templateVariable = 'QUITTANCE_TEST_POSTGRES_TEMPLATE'

/** Makes the template on this server; afterwards every process of the test run finds it. */
export async function makePostgresTemplate(server: string): Promise<() => Promise<void>> {
  const url = await createFrom(server, 'template0')
  await migrateAt(url)
  process.env[templateVariable] = nameIn(url)
  return () => dropDatabase(server, url)
}

/** The URL of a new database on this server. */
export async function createDatabase(server: string, template: TemplateName): Promise<string> {
  const migrated = process.env[templateVariable]
  if (template === 'migrated' && migrated !== undefined) return createFrom(server, migrated)
  const url = await createFrom(server, 'template0')
  if (template === 'migrated') await migrateAt(url)
  return url
}

export function dropDatabase(server: string, url: string): Promise<void> {
  return onServer(server, `drop database if exists ${nameIn(url)} with (force)`)
}

async function createFrom(server: string, template: string): Promise<string> {
  const name = `quittance_test_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${name} template ${template}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

const nameIn = (url: string) => new URL(url).pathname.slice(1)

async function migrateAt(url: string): Promise<void> {
  const target = { kind: 'postgres', url } as const
  const database = connect({ target, log: silentLog, poolSize: 1, applicationName: 'template' })
  await migrate(database)
  await database.close()
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
