import { connect } from 'node:net'
import { resolve } from 'node:path'
import { QuittanceError } from '../../kernel/errors.ts'
import { readOwner } from './owner-file.ts'
import { socketPath, type SocketAddress } from './socket-place.ts'

const connectLimitMs = 5000

/**
 * The socket of the embedded database that another process runs in this folder.
 * Throws `embedded_not_running` if none does, or if it is still starting.
 */
export async function findEmbedded(dataDir: string): Promise<SocketAddress> {
  const address = readOwner(dataDir)?.address
  if (address !== undefined && (await listens(socketPath(address)))) return address
  throw new QuittanceError(
    'embedded_not_running',
    `no process runs the embedded database in ${resolve(dataDir)}`,
  )
}

/** A killed owner leaves its note and its socket file behind, but nobody answers. */
function listens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(connectLimitMs, () => finish(false))
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
  })
}
