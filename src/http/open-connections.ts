import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './network-of.ts'

/** Whom connections come from: an address, or a network of them. */
export interface Network {
  readonly name: string
  open: number
  /** Without a request under way; who has been so for longest comes first. */
  readonly idle: Set<Connection>
}

export interface Connection {
  readonly socket: Socket
  readonly network: Network
  /** Requests whose answers are not out. */
  underWay: number
  latest: IncomingMessage | undefined
}

/** The book of who is connected, since when nobody has asked anything, and what is under way. */
export interface OpenConnections {
  readonly count: number
  /** Of all networks, in the order in which they became so. */
  readonly idle: ReadonlySet<Connection>
  networkOf(socket: Socket): Network
  enter(socket: Socket, network: Network): void
  leave(connection: Connection): void
  /**
   * From here on until its answer is out, the connection of this request is not idle. Returns how
   * many requests of it are under way now, this one included.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): number
  /** Whether the sender has done his part, and nothing is on its way to him: he waits for us. */
  isWaitingForUs(socket: Socket): boolean
}

export function openConnections(): OpenConnections {
  const connections = new Map<Socket, Connection>()
  const networks = new Map<string, Network>()
  const idle = new Set<Connection>()
  const rest = (connection: Connection) => {
    idle.add(connection)
    connection.network.idle.add(connection)
  }
  const wake = (connection: Connection) => {
    idle.delete(connection)
    connection.network.idle.delete(connection)
  }
  const leave = (connection: Connection) => {
    const { socket, network } = connection
    if (!connections.delete(socket)) return
    wake(connection)
    network.open -= 1
    if (network.open === 0) networks.delete(network.name)
  }
  const end = (connection: Connection) => {
    connection.underWay -= 1
    if (connection.underWay === 0 && connections.has(connection.socket)) rest(connection)
  }
  return {
    idle,
    leave,
    get count() {
      return connections.size
    },
    networkOf({ remoteAddress }) {
      const name = networkOf(remoteAddress ?? '')
      return networks.get(name) ?? { name, open: 0, idle: new Set() }
    },
    enter(socket, network) {
      const connection: Connection = { socket, network, underWay: 0, latest: undefined }
      network.open += 1
      networks.set(network.name, network)
      connections.set(socket, connection)
      rest(connection)
      socket.once('close', () => leave(connection))
    },
    begin(incoming, outgoing) {
      const connection = connections.get(incoming.socket)
      if (connection === undefined) return 1
      connection.underWay += 1
      connection.latest = incoming
      wake(connection)
      outgoing.once('close', () => end(connection))
      return connection.underWay
    },
    isWaitingForUs(socket) {
      const connection = connections.get(socket)
      if (connection === undefined || connection.underWay === 0) return false
      return connection.latest?.complete === true && socket.writableLength === 0
    },
  }
}
