import { describe } from 'node:test'
import type { DatabaseTarget } from '../../src/database/connect.ts'
import type { TemplateName } from './embedded-template.ts'
import { createDatabase, dropDatabase } from './postgres-template.ts'
import { setVariable } from './set-variable.ts'
import { mutationWorker } from './worker-database.ts'

export interface TestDatabase {
  readonly target: DatabaseTarget
  /** Only on PostgreSQL. */
  readonly url?: string
  drop(): Promise<void>
}

export interface TestEngine {
  readonly name: 'embedded' | 'PostgreSQL'
  /** A database of the caller's own, migrated, without rows. */
  create(): Promise<TestDatabase>
  /** One without our schema: for tests of the migrations, and of what holds before them. */
  createEmpty(): Promise<TestDatabase>
}

export const embedded: TestEngine = {
  name: 'embedded',
  create: () => createEmbedded('migrated'),
  createEmpty: () => createEmbedded('empty'),
}

export const postgres: TestEngine = {
  name: 'PostgreSQL',
  create: () => createOnPostgres('migrated'),
  createEmpty: () => createOnPostgres('empty'),
}

/** Names what has every test run on both kinds of database. */
export const bothVariable = 'QUITTANCE_TEST_DATABASES'

/**
 * Declares tests that hold on both kinds of database. They run on PostgreSQL, where several
 * connections race; `npm run test:long` runs them on the embedded one, too.
 */
export function onAnyDatabase(declare: (engine: TestEngine) => void): void {
  if (process.env[bothVariable] === 'both') describe(embedded.name, () => declare(embedded))
  onPostgres(declare)
}

/**
 * Declares tests that hold on both kinds of database, and are harder on the embedded one. `npm run
 * test:long` runs them on PostgreSQL, too.
 */
export function onEmbedded(declare: (engine: TestEngine) => void): void {
  describe(embedded.name, () => declare(embedded))
  if (process.env[bothVariable] === 'both') onPostgres(declare)
}

/** Declares the same tests once for each kind of database; a mutation run has time for one. */
export function onBothDatabases(declare: (engine: TestEngine) => void): void {
  if (mutationWorker() === undefined) describe(embedded.name, () => declare(embedded))
  onPostgres(declare)
}

/**
 * Declares tests that only make sense on a PostgreSQL server. The concurrency is that of its suites,
 * for those that wait; each has to say that its own tests follow one another.
 */
export function onPostgres(
  declare: (engine: TestEngine) => void,
  { concurrency = 1 }: { readonly concurrency?: number } = {},
): void {
  if (serverUrl() === undefined && process.env['CI'] === 'true') {
    throw new Error(`CI needs PostgreSQL: ${whyNoServer()}`)
  }
  const skip = serverUrl() === undefined ? `NO POSTGRESQL: ${whyNoServer()}` : false
  describe(postgres.name, { skip, concurrency }, () => declare(postgres))
}

function serverUrl(): string | undefined {
  return setVariable('QUITTANCE_TEST_POSTGRES')
}

function whyNoServer(): string {
  return (
    process.env['QUITTANCE_TEST_POSTGRES_MISSING'] ??
    'run this file by: npm run test:only -- path/to/file.test.ts'
  )
}

async function createEmbedded(template: TemplateName): Promise<TestDatabase> {
  // PGlite takes long to load.
  const { openTestEmbedded } = await import('./embedded-template.ts')
  const { socket, close } = await openTestEmbedded(template)
  return { target: { kind: 'embedded', ...socket }, drop: close }
}

async function createOnPostgres(template: TemplateName): Promise<TestDatabase> {
  const server = serverUrl()
  if (server === undefined) throw new Error(`no PostgreSQL: ${whyNoServer()}`)
  const url = await createDatabase(server, template)
  return { target: { kind: 'postgres', url }, url, drop: () => dropDatabase(server, url) }
}
