import process from 'node:process'
import { join } from 'node:path'
import { QuittanceError, type ErrorCode } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import {
  checkFreeSpace,
  checkIntact,
  folderNames,
  isToBeMade,
  prepareDataFolder,
  unusableFolder,
} from './data-folder.ts'
import { takeLock } from './lock.ts'
import { readOwner, removeOwner, writeOwner } from './owner-file.ts'
import { runThread, type Refusal } from './run-thread.ts'
import { chooseSocket, removeSocket, type SocketAddress } from './socket-place.ts'

export interface EmbeddedOptions {
  /** The folder that keeps the database; undefined: in memory, for tests. */
  readonly dataDir: string | undefined
  readonly log: Log
  /** Called once if the database ends on its own; the process cannot go on without it. */
  readonly onLost: (error: QuittanceError) => void
  /** Origin of the URLs that this process hands out: the commands beside it hand out the same. */
  readonly origin?: string | undefined
  /** After this long without a statement a transaction is rolled back and its client dismissed. */
  readonly transactionIdleMs: number
  /** How long the database's thread may stay silent before it counts as hung. */
  readonly hungAfterMs?: number
  /** A clock that it lives by, for rehearsals; the system's if left out. */
  readonly clock?: SharedArrayBuffer | undefined
}

/** A running embedded database. */
export interface Embedded {
  /** For `new pg.Pool({ ...socket, user: 'quittance', database: 'quittance' })`. */
  readonly socket: SocketAddress
  /** Ends clients and transactions, closes the files, frees the folder. Never rejects. */
  close(): Promise<void>
}

const hungAfterMs = 15_000

/**
 * Opens the embedded database and listens for PostgreSQL clients on a unix socket.
 * Throws `embedded_in_use`, `embedded_damaged`, `embedded_no_space`, `embedded_lost` (no answer in
 * time), `package_bundled` or `setting_invalid` (the folder cannot be used).
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const place =
    options.dataDir === undefined ? placeInMemory() : placeInFolder(options.dataDir, options.log)
  try {
    return await open(place, options)
  } catch (error) {
    place.leave()
    throw error
  }
}

/** Where the database is kept. */
interface Place {
  readonly folder: string | undefined
  readonly address: SocketAddress
  /** Removes the socket and frees the folder; a second call does nothing. */
  leave(): void
}

function placeInMemory(): Place {
  const address = chooseSocket(undefined)
  return { folder: undefined, address, leave: () => removeSocket(address) }
}

function placeInFolder(dataDir: string, log: Log): Place {
  const folder = prepareDataFolder(dataDir, (message) => log.warn(message))
  try {
    return takePlace(folder)
  } catch (error) {
    throw unusableFolder(folder, error)
  }
}

/** Takes the lock first: its holder may remove what a killed owner left. */
function takePlace(folder: string): Place {
  const lock = takeLock(folder)
  try {
    const previous = readOwner(folder)?.address
    writeOwner(folder, { pid: process.pid })
    if (previous !== undefined) removeSocket(previous)
    const address = chooseSocket(folder)
    removeSocket({ host: folder, port: address.port })
    let left = false
    const leave = () => {
      if (left) return
      left = true
      removeSocket(address)
      removeOwner(folder)
      lock.release()
    }
    return { folder, address, leave }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function open(place: Place, options: EmbeddedOptions): Promise<Embedded> {
  const { folder, address } = place
  const databaseFolder = folder === undefined ? undefined : join(folder, folderNames.database)
  if (folder !== undefined) await checkFreeSpace(folder)
  if (databaseFolder !== undefined) {
    checkIntact(databaseFolder)
    if (isToBeMade(databaseFolder)) options.log.info({ folder }, 'preparing the database')
  }
  const thread = await runThread({
    thread: {
      databaseFolder,
      address,
      transactionIdleMs: options.transactionIdleMs,
      clock: options.clock,
    },
    warn: (message) => options.log.warn(message),
    hungAfterMs: options.hungAfterMs ?? hungAfterMs,
    lost(reason) {
      place.leave()
      const where = folder === undefined ? 'in memory' : `in ${folder}`
      options.onLost(
        new QuittanceError('embedded_lost', `the embedded database ${where} ended: ${reason}`),
      )
    },
  })
  if ('reason' in thread) throw refused(thread, databaseFolder)
  if (folder !== undefined) {
    const { origin } = options
    writeOwner(folder, {
      pid: process.pid,
      address,
      service: origin === undefined ? origin : { origin },
    })
  }
  options.log.debug({ folder }, 'embedded database is open')
  return {
    socket: address,
    async close() {
      await thread.stop()
      place.leave()
    },
  }
}

/** What to do when it, or whoever asked it, was too slow. */
export const tooBusy = 'Try again when the machine is less busy: it was too slow for the database.'

const refusals = {
  database: 'embedded_damaged',
  code: 'package_bundled',
  time: 'embedded_lost',
} as const satisfies Record<Refusal['cause'], ErrorCode>

function refused({ reason, cause }: Refusal, databaseFolder: string | undefined): Error {
  const what =
    cause === 'code'
      ? 'the code of the embedded database could not be loaded (a bundler has packed it with the app?)'
      : `the embedded database in ${databaseFolder ?? 'memory'} did not open`
  return new QuittanceError(refusals[cause], `${what}: ${reason}; nothing was changed`, {
    ...(cause === 'time' && { fix: tooBusy }),
  })
}
