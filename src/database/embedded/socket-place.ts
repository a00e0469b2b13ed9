import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Where a `pg` pool finds the embedded database: `new pg.Pool({ host, port, user, database })`. */
export interface SocketAddress {
  /** The absolute path of the folder that holds the socket. */
  readonly host: string
  readonly port: number
}

const port = 5432
const prefix = 'quittance-'

/** The system's limit is 104 (macOS) or 108 bytes; a longer path fails or is cut. */
const pathLimitBytes = 100
/** Leaves room for the folder's name and the socket's. */
const temporaryLimitBytes = pathLimitBytes - 34

/** The path that `pg` makes out of host and port. */
export function socketPath({ host, port: number }: SocketAddress): string {
  return join(host, `.s.PGSQL.${number}`)
}

/** The data folder itself, or a private temporary folder where its path is too long or absent. */
export function chooseSocket(dataDir: string | undefined): SocketAddress {
  if (dataDir !== undefined) {
    const address = { host: dataDir, port }
    if (Buffer.byteLength(socketPath(address)) <= pathLimitBytes) return address
  }
  const folder = Buffer.byteLength(tmpdir()) <= temporaryLimitBytes ? tmpdir() : '/tmp'
  // mkdtemp makes the folder with mode 0700.
  return { host: mkdtempSync(join(folder, prefix)), port }
}

/** Removes a socket that no process listens on any more, with its temporary folder if it had one. */
export function removeSocket(address: SocketAddress): void {
  rmSync(socketPath(address), { force: true })
  if (isTemporary(address.host)) rmSync(address.host, { recursive: true, force: true })
}

function isTemporary(folder: string): boolean {
  return basename(folder).startsWith(prefix) && [tmpdir(), '/tmp'].includes(dirname(folder))
}
