import { PGlite } from '@electric-sql/pglite'
import { isToBeMade } from './data-folder.ts'
import { freshFiles, unpackInto } from './fresh-files.ts'

/** A database that is open and answered a write and a read. */
export interface OpenPglite {
  /** Runs bytes of the wire protocol; rejects only when the session is lost. */
  run(bytes: Buffer): Promise<Buffer>
  close(): Promise<void>
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * Called with what PostgreSQL writes to its log; lines may quote statements, so they are not kept.
 */
export type OnServerLine = (line: string) => void

/** Only what ends the session is logged: other lines quote statements, and with them payloads. */
const startParameters = [
  // Kept small: the system's cache is behind it, and the WASM memory is zeroed at each start.
  ['shared_buffers', '32MB'],
  ['log_min_messages', 'fatal'],
  ['log_min_error_statement', 'panic'],
  ['jit', 'off'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Opens the database in the folder. A folder without one gets a new one; no folder: in memory. */
export async function openPglite(
  folder: string | undefined,
  onLine: OnServerLine,
): Promise<OpenPglite> {
  if (folder !== undefined && isToBeMade(folder)) unpackInto(folder)
  const database = await createPglite(folder, onLine)
  await checkWriteAndRead(database)
  return {
    run: (bytes) => run(database, bytes),
    close: () => database.close(),
    parameters: await readParameters(database),
  }
}

function createPglite(folder: string | undefined, onLine: OnServerLine): Promise<PGlite> {
  const quiet = (line: string) => {
    onLine(line)
    return false
  }
  return PGlite.create(folder ?? 'memory://', {
    relaxedDurability: false,
    startParams: [...PGlite.defaultStartParams, ...startParameters],
    onStdout: quiet,
    onStderr: quiet,
    ...(folder === undefined && { loadDataDir: new Blob([freshFiles()]) }),
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
