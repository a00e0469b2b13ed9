import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'

/** The names inside a data folder. */
export const folderNames = { database: 'database', lock: 'lock', owner: 'owner.json' } as const

/** Below this PostgreSQL soon meets a full disk, which it answers with a PANIC. */
const freeSpaceNeededBytes = 64 * 1024 * 1024

const openToOthers = 0o077
const sticky = 0o1000

/** Not `recursive: true`: if a parent refuses, as in /proc, that never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

const ownerOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.uid

/**
 * Who owns a file can read and replace it, whatever its mode. `uid`: ours; undefined where the system
 * has none.
 */
export function refuseOwnedByOthers(
  folder: string,
  uid: number | undefined,
  owner: (path: string) => number | undefined = ownerOf,
): void {
  if (uid === undefined) return
  const { database, lock } = folderNames
  for (const path of [folder, join(folder, database), join(folder, lock)]) {
    const found = owner(path)
    if (found === undefined || found === uid) continue
    throw new Error(`${path} belongs to user ${found}, and this is user ${uid}`)
  }
}

/** Makes the folder, or closes it to other users; returns its real path. */
export function prepareDataFolder(
  dataDir: string,
  warn: (message: string) => void,
  uid: number | undefined = process.getuid?.(),
): string {
  try {
    makeFolder(resolve(dataDir))
    const folder = realpathSync(dataDir)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    refuseOwnedByOthers(folder, uid)
    const { mode } = statSync(folder)
    if ((mode & openToOthers) === 0) return folder
    // A folder with other things in it (a home, /tmp) is not ours to close.
    if ((mode & sticky) === 0 && isOurs(folder)) {
      chmodSync(folder, 0o700)
      warn(`the data folder ${folder} was open to other users; its mode is 0700 now`)
      return folder
    }
    throw new Error(`it is open to other users (mode ${(mode & 0o7777).toString(8)})`)
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
}

/** `setting_invalid`; an error that already says what to do stays as it is. */
export function unusableFolder(dataDir: string, error: unknown): QuittanceError {
  if (isQuittanceError(error)) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new QuittanceError(
    'setting_invalid',
    `the data folder ${dataDir} cannot be used: ${reason}`,
    {
      cause: error,
      fix: 'Set BILLING_DATA_DIR to a folder of its own that this user can write to (mode 0700).',
    },
  )
}

function isOurs(folder: string): boolean {
  const names = readdirSync(folder)
  return names.length === 0 || names.includes(folderNames.lock)
}

/** Refuses to start on a nearly full disk. */
export async function checkFreeSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= freeSpaceNeededBytes) return
  throw new QuittanceError(
    'embedded_no_space',
    `the disk of ${folder} has ${mebibytes(freeBytes)} MiB left; ` +
      `the embedded database needs ${mebibytes(freeSpaceNeededBytes)} MiB`,
  )
}

const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024)

/** Whether no database has been made in the folder yet. */
export const isToBeMade = (databaseFolder: string): boolean =>
  !existsSync(join(databaseFolder, 'PG_VERSION'))

/** Refuses a database folder that has files, but not those that every PostgreSQL one has. */
export function checkIntact(databaseFolder: string): void {
  if (!existsSync(databaseFolder) || readdirSync(databaseFolder).length === 0) return
  const missing = ['PG_VERSION', 'global/pg_control'].filter(
    (name) => !existsSync(join(databaseFolder, name)),
  )
  if (missing.length === 0) return
  throw new QuittanceError(
    'embedded_damaged',
    `the embedded database in ${databaseFolder} lacks ${missing.join(' and ')}; nothing was changed`,
  )
}
