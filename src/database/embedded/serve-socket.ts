import { chmodSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { serveConnection } from './connection.ts'
import { socketPath, type SocketAddress } from './socket-place.ts'
import type { Client, Turns } from './turns.ts'
import { fatal } from './wire-protocol.ts'

export interface ServeOptions {
  readonly address: SocketAddress
  readonly turns: Turns
  readonly parameters: Readonly<Record<string, string>>
}

export interface SocketServer {
  /** Stops accepting, dismisses every client, ends their transactions. */
  close(): Promise<void>
}

const connectionLimit = 100

/** Listens on the unix socket until it is closed. */
export async function serveSocket(options: ServeOptions): Promise<SocketServer> {
  const clients = new Set<Client>()
  let number = 0
  const server = createServer((socket) => {
    if (clients.size >= connectionLimit) {
      socket.on('error', () => socket.destroy())
      socket.end(fatal('53300', `the embedded database takes ${connectionLimit} connections`))
      return
    }
    number += 1
    const client = serveConnection(socket, { ...options, number })
    clients.add(client)
    socket.on('close', () => clients.delete(client))
  })
  await listen(server, socketPath(options.address))
  return {
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const client of clients) client.dismiss('57P01', 'the embedded database is closing')
      await options.turns.close()
      await closed
    },
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening')
  server.listen(path)
  await listening
  // The folder is 0700 already; so is the socket.
  chmodSync(path, 0o600)
}
