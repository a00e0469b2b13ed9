import { PGlite } from '@electric-sql/pglite'
import { existsSync, renameSync, rmSync } from 'node:fs'
import type { ThreadOptions } from './messages.ts'

/** A database that is open and answered a write and a read. */
export interface OpenPglite {
  /** Runs bytes of the wire protocol; rejects only when the session is lost. */
  run(bytes: Buffer): Promise<Buffer>
  close(): Promise<void>
  readonly parameters: Readonly<Record<string, string>>
  /** True if this start made the database. */
  readonly initialised: boolean
  /**
   * Its files as initdb left them, if it is in memory and was not itself made from such a template.
   */
  readonly template?: Blob | undefined
}

/**
 * Called with what PostgreSQL writes to its log; lines may quote statements, so they are not kept.
 */
export type OnServerLine = (line: string) => void

/** Kept small: the system's cache is behind it, and the WASM memory is zeroed at each start. */
const sharedBuffers = '32MB'

/** Only what ends the session is logged: other lines quote statements, and with them payloads. */
const startParameters = [
  ['shared_buffers', sharedBuffers],
  ['log_min_messages', 'fatal'],
  ['log_min_error_statement', 'panic'],
  ['jit', 'off'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Spares initdb its tests of settings and its final sync: 1 s of 3.5 s. */
const initdbParameters = `--no-sync -c shared_buffers=${sharedBuffers} -c max_connections=20`.split(
  ' ',
)

/** Opens PostgreSQL's files, or makes them first: in memory, or if the folder has none. */
export async function openPglite(
  { databaseFolder: folder, template }: Pick<ThreadOptions, 'databaseFolder' | 'template'>,
  onLine: OnServerLine,
): Promise<OpenPglite> {
  const initialised =
    folder === undefined ? template === undefined : !existsSync(`${folder}/PG_VERSION`)
  if (folder !== undefined && initialised) await initialise(folder, onLine)
  const database = await createPglite(folder, onLine, template)
  const made = folder === undefined && initialised ? await database.dumpDataDir('none') : undefined
  await checkWriteAndRead(database)
  return {
    run: (bytes) => run(database, bytes),
    close: () => database.close(),
    parameters: await readParameters(database),
    initialised,
    template: made && new Blob([made]),
  }
}

/** The folder beside the database in which a new one is made. */
const initialisingFolder = (folder: string) => `${folder}.initialising`

/** Makes the database aside and renames it when it is complete: a kill leaves no half-made one. */
async function initialise(folder: string, onLine: OnServerLine): Promise<void> {
  const aside = initialisingFolder(folder)
  rmSync(aside, { recursive: true, force: true })
  const database = await createPglite(aside, onLine)
  await database.close()
  renameSync(aside, folder)
}

function createPglite(
  folder: string | undefined,
  onLine: OnServerLine,
  template?: Blob,
): Promise<PGlite> {
  const quiet = (line: string) => {
    onLine(line)
    return false
  }
  return PGlite.create(folder ?? 'memory://', {
    relaxedDurability: false,
    startParams: [...PGlite.defaultStartParams, ...startParameters],
    initDbStartParams: initdbParameters,
    onStdout: quiet,
    onStderr: quiet,
    ...(template !== undefined && { loadDataDir: template }),
  })
}

/** Leaves nothing behind: the table lives in the transaction that is rolled back. */
async function checkWriteAndRead(database: PGlite): Promise<void> {
  const answer = await database.exec(
    'begin; create table public.quittance_check as select 42 as value;' +
      'select value from public.quittance_check; rollback',
  )
  if (answer[2]?.rows[0]?.['value'] !== 42) throw new Error('a write could not be read back')
}

const reported = [
  'server_version',
  'server_encoding',
  'client_encoding',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'integer_datetimes',
  'standard_conforming_strings',
]

async function readParameters(database: PGlite): Promise<Record<string, string>> {
  const { rows } = await database.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [reported],
  )
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

async function run(database: PGlite, bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = []
  await database.execProtocolRawStream(bytes, {
    syncToFs: false,
    // The chunk is a view of memory that the next one overwrites.
    onRawData: (chunk) => chunks.push(Buffer.from(chunk)),
  })
  const [only, ...others] = chunks
  return only !== undefined && others.length === 0 ? only : Buffer.concat(chunks)
}
