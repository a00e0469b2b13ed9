import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createLinkedList, type LinkedList, type Place } from '../kernel/linked-list.ts'
import { networkOf } from './network-of.ts'

/** Where connections come from: an address, or a network of addresses. */
export interface Network {
  readonly name: string
  /**
   * In the order in which they last did something: connected, sent the head of a request, got an
   * answer.
   */
  readonly open: LinkedList<Connection>
}

export interface Connection {
  readonly socket: Socket
  readonly network: Network
  /** Requests whose answers are not out yet. */
  readonly underWay: Exchange[]
}

interface Entry extends Connection {
  readonly placeInAll: Place<Connection>
  readonly placeInNetwork: Place<Connection>
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
  readonly open: Pick<LinkedList<Connection>, 'size' | typeof Symbol.iterator>
  networkOf(socket: Socket): Network
  enter(socket: Socket, network: Network): void
  leave(connection: Connection): void
  /**
   * A request has arrived. Returns how many of its connection are under way now, this one included.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): number
  /** The last answer that a client waits for after sending a whole request. */
  answerDue(socket: Duplex): ServerResponse | undefined
  /** Whether an answer is on its way: a second status line inside it would corrupt it. */
  isBeingAnswered(socket: Duplex): boolean
  /** Whether such an answer is due, and nothing is on its way to the client. */
  isWaitingForUs(socket: Duplex): boolean
  /** The first of these that does not wait for us. */
  keepsUsWaiting(order: Iterable<Connection>): Connection | undefined
}

export function openConnections(): OpenConnections {
  const connections = new Map<Duplex, Entry>()
  const networks = new Map<string, Network>()
  const open = createLinkedList<Connection>()
  const moved = ({ network, placeInAll, placeInNetwork }: Entry) => {
    open.moveToEnd(placeInAll)
    network.open.moveToEnd(placeInNetwork)
  }
  const leave = ({ socket, network }: Connection) => {
    const entry = connections.get(socket)
    if (entry === undefined) return
    connections.delete(socket)
    open.remove(entry.placeInAll)
    network.open.remove(entry.placeInNetwork)
    if (network.open.size === 0) networks.delete(network.name)
  }
  const end = (entry: Entry, exchange: Exchange) => {
    entry.underWay.splice(entry.underWay.indexOf(exchange), 1)
    if (connections.has(entry.socket)) moved(entry)
  }
  const answerDue = (socket: Duplex) =>
    connections.get(socket)?.underWay.findLast(({ incoming }) => incoming.complete)?.outgoing
  const isWaitingForUs = (socket: Duplex) =>
    answerDue(socket) !== undefined && socket.writableLength === 0
  return {
    open,
    leave,
    answerDue,
    isBeingAnswered: (socket) =>
      connections.get(socket)?.underWay.some(({ outgoing }) => outgoing.headersSent) === true,
    networkOf({ remoteAddress }) {
      const name = networkOf(remoteAddress ?? '')
      return networks.get(name) ?? { name, open: createLinkedList() }
    },
    enter(socket, network) {
      const connection: Connection = { socket, network, underWay: [] }
      networks.set(network.name, network)
      connections.set(socket, {
        ...connection,
        placeInAll: open.append(connection),
        placeInNetwork: network.open.append(connection),
      })
      socket.once('close', () => leave(connection))
    },
    begin(incoming, outgoing) {
      const entry = connections.get(incoming.socket)
      if (entry === undefined) return 1
      const exchange = { incoming, outgoing, readBefore: incoming.socket.bytesRead }
      entry.underWay.push(exchange)
      moved(entry)
      outgoing.once('close', () => end(entry, exchange))
      return entry.underWay.length
    },
    isWaitingForUs,
    keepsUsWaiting(order) {
      for (const one of order) if (!isWaitingForUs(one.socket)) return one
      return undefined
    },
  }
}
