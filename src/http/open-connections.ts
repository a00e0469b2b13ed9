import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from './network-of.ts'

/** Where connections come from: an address, or a network of addresses. */
export interface Network {
  readonly name: string
  /**
   * In the order in which they last did something: connected, sent the head of a request, got an
   * answer.
   */
  readonly open: Set<Connection>
}

export interface Connection {
  readonly socket: Socket
  readonly network: Network
  /** Requests whose answers are not out yet. */
  readonly underWay: Exchange[]
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Bytes that had arrived on its connection by then. */
  readonly readBefore: number
}

/** Keeps track of who is connected, how long each has done nothing, and what is under way. */
export interface OpenConnections {
  /** Connections of all networks, in the order of `Network.open`. */
  readonly open: ReadonlySet<Connection>
  networkOf(socket: Socket): Network
  enter(socket: Socket, network: Network): void
  leave(connection: Connection): void
  /**
   * A request has arrived. Returns how many of its connection are under way now, this one included.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): number
  /** The last answer that a client waits for after sending a whole request. */
  answerDue(socket: Duplex): ServerResponse | undefined
  /** Whether such an answer is due, and nothing is on its way to the client. */
  isWaitingForUs(socket: Duplex): boolean
  /** The first of these that does not wait for us. */
  keepsUsWaiting(order: Iterable<Connection>): Connection | undefined
}

export function openConnections(): OpenConnections {
  const connections = new Map<Duplex, Connection>()
  const networks = new Map<string, Network>()
  const open = new Set<Connection>()
  const moved = (connection: Connection) => {
    for (const order of [open, connection.network.open]) {
      order.delete(connection)
      order.add(connection)
    }
  }
  const leave = (connection: Connection) => {
    const { socket, network } = connection
    if (!connections.delete(socket)) return
    open.delete(connection)
    network.open.delete(connection)
    if (network.open.size === 0) networks.delete(network.name)
  }
  const end = (connection: Connection, exchange: Exchange) => {
    connection.underWay.splice(connection.underWay.indexOf(exchange), 1)
    if (connections.has(connection.socket)) moved(connection)
  }
  const answerDue = (socket: Duplex) =>
    connections.get(socket)?.underWay.findLast(({ incoming }) => incoming.complete)?.outgoing
  const isWaitingForUs = (socket: Duplex) =>
    answerDue(socket) !== undefined && socket.writableLength === 0
  return {
    open,
    leave,
    answerDue,
    networkOf({ remoteAddress }) {
      const name = networkOf(remoteAddress ?? '')
      return networks.get(name) ?? { name, open: new Set() }
    },
    enter(socket, network) {
      const connection: Connection = { socket, network, underWay: [] }
      networks.set(network.name, network)
      connections.set(socket, connection)
      moved(connection)
      socket.once('close', () => leave(connection))
    },
    begin(incoming, outgoing) {
      const connection = connections.get(incoming.socket)
      if (connection === undefined) return 1
      const exchange = { incoming, outgoing, readBefore: incoming.socket.bytesRead }
      connection.underWay.push(exchange)
      moved(connection)
      outgoing.once('close', () => end(connection, exchange))
      return connection.underWay.length
    },
    isWaitingForUs,
    keepsUsWaiting(order) {
      for (const one of order) if (!isWaitingForUs(one.socket)) return one
      return undefined
    },
  }
}
