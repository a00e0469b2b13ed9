import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '../../src/database/connect.ts'
import { openEmbedded } from '../../src/database/embedded/open-embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Folder of the templates: copying one spares each test the migrations. */
const templateVariable = 'QUITTANCE_TEST_EMBEDDED'

/** `empty`: as initdb leaves it, for tests of the migrations themselves. */
export type TemplateName = 'empty' | 'migrated'

export interface OpenTestEmbedded {
  readonly dataDir: string
  readonly socket: { readonly host: string; readonly port: number }
  close(): Promise<void>
}

/** Makes the templates, or keeps those that are there; every process of the test run finds them. */
export async function makeTemplate(): Promise<() => void> {
  const kept = process.env[templateVariable]
  if (kept !== undefined && isOfToday(kept)) return () => {}
  const folder = temporaryFolder()
  const empty = join(folder.path, 'empty')
  const migrated = join(folder.path, 'migrated')
  const database = await open(empty)
  await database.close()
  cpSync(empty, migrated, { recursive: true })
  await migrateFolder(migrated)
  writeFileSync(join(folder.path, madeOf), migrationsOfToday())
  process.env[templateVariable] = folder.path
  return folder.remove
}

/** In the folder of the templates: the migrations that they were made with. */
const madeOf = 'migrations.txt'

function isOfToday(folder: string): boolean {
  const file = join(folder, madeOf)
  return existsSync(file) && readFileSync(file, 'utf8') === migrationsOfToday()
}

function migrationsOfToday(): string {
  const schema = new URL('../../src/database/schema.txt', import.meta.url)
  return [...Object.keys(migrations), readFileSync(schema, 'utf8')].join('\n')
}

async function migrateFolder(folder: string): Promise<void> {
  const { socket, close } = await open(folder)
  const target = { kind: 'embedded', ...socket } as const
  const database = connect({ target, log: silentLog, poolSize: 1, applicationName: 'template' })
  await migrate(database)
  await database.close()
  await close()
}

/** An embedded database of the caller's own. */
export async function openTestEmbedded(name: TemplateName): Promise<OpenTestEmbedded> {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  fillDataFolder(data, name)
  if (name === 'migrated' && process.env[templateVariable] === undefined) await migrateFolder(data)
  const { socket, close } = await open(data)
  return {
    dataDir: data,
    socket,
    close: async () => {
      await close()
      folder.remove()
    },
  }
}

/** Fills a data folder that does not exist yet, where there is a template. */
export function fillDataFolder(dataDir: string, name: TemplateName = 'migrated'): void {
  const templates = process.env[templateVariable]
  if (templates !== undefined) cpSync(join(templates, name), dataDir, { recursive: true })
}

/** A data folder of the caller's own, for a database without rows. */
export function migratedFolder(): { readonly dataDir: string; remove(): void } {
  holdCompiled()
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  fillDataFolder(dataDir)
  return { dataDir, remove: folder.remove }
}

declare const WebAssembly: { compile(bytes: Uint8Array): Promise<unknown> }

let compiled: Promise<unknown> | undefined

/**
 * Threads of one process share what they compile of the same bytes for as long as somebody holds
 * it. Otherwise each database that is opened would compile its 9 MB again.
 */
export function holdCompiled(): void {
  const file = new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite'))
  compiled ??= readFile(file).then((bytes) => WebAssembly.compile(bytes))
}

function open(dataDir: string) {
  holdCompiled()
  return openEmbedded({
    dataDir,
    log: silentLog,
    transactionIdleMs: 10_000,
    onLost: (error) => {
      throw error
    },
  })
}
