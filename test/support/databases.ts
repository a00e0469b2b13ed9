import { randomUUID } from 'node:crypto'
import { describe } from 'node:test'
import pg from 'pg'
import type { DatabaseTarget } from '../../src/database/connect.ts'
import { openTestEmbedded } from './embedded-template.ts'

export interface TestDatabase {
  readonly target: DatabaseTarget
  /** Only on PostgreSQL. */
  readonly url?: string
  drop(): Promise<void>
}

export interface TestEngine {
  readonly name: 'embedded' | 'PostgreSQL'
  /** An empty database of the caller's own. */
  create(): Promise<TestDatabase>
}

export const embedded: TestEngine = { name: 'embedded', create: createEmbedded }
export const postgres: TestEngine = { name: 'PostgreSQL', create: createOnPostgres }

/** Declares the same tests once for each kind of database. */
export function forEachDatabase(declare: (engine: TestEngine) => void): void {
  describe(embedded.name, () => declare(embedded))
  onPostgres(declare)
}

/** Declares tests that only make sense on a PostgreSQL server. */
export function onPostgres(declare: (engine: TestEngine) => void): void {
  if (serverUrl() === undefined && process.env['CI'] === 'true') {
    throw new Error(`CI needs PostgreSQL: ${whyNoServer()}`)
  }
  const skip = serverUrl() === undefined ? `NO POSTGRESQL: ${whyNoServer()}` : false
  describe(postgres.name, { skip }, () => declare(postgres))
}

function serverUrl(): string | undefined {
  return process.env['QUITTANCE_TEST_POSTGRES']
}

function whyNoServer(): string {
  return (
    process.env['QUITTANCE_TEST_POSTGRES_MISSING'] ??
    'run this file by: npm run test:only -- path/to/file.test.ts'
  )
}

async function createEmbedded(): Promise<TestDatabase> {
  const { socket, close } = await openTestEmbedded()
  return { target: { kind: 'embedded', ...socket }, drop: close }
}

async function createOnPostgres(): Promise<TestDatabase> {
  const server = serverUrl()
  if (server === undefined) throw new Error(`no PostgreSQL: ${whyNoServer()}`)
  const name = `quittance_test_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${name} template template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    target: { kind: 'postgres', url: url.href },
    url: url.href,
    drop: () => onServer(server, `drop database if exists ${name} with (force)`),
  }
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
