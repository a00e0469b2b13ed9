import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../kernel/log.ts'
import { tally } from '../kernel/tally.ts'
import {
  type Connection,
  type Network,
  type OpenConnections,
  openConnections,
} from './open-connections.ts'

export interface ConnectionLimits {
  /** Open at once, at most. */
  readonly most: number
  /**
   * For one address, once three quarters of all places are taken. Below that there is no such
   * limit: behind a proxy, all connections come from one address.
   */
  readonly perAddress: number
}

/** Requests that one connection may have under way: no gateway sends two before an answer. */
const mostPipelined = 16

/** Who is connected, and who has to leave to make room for others. */
export interface LimitedConnections extends Pick<
  OpenConnections,
  'isWaitingForUs' | 'isBeingAnswered' | 'answerDue'
> {
  /**
   * A request has arrived. False: its connection has sent too many without waiting for an answer;
   * it is closed and gets none.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): boolean
  /**
   * More than three quarters of the places are taken: a connection should close after its answer.
   */
  readonly isCrowded: boolean
  /** Logs what was not logged yet. */
  end(): void
}

const notes = {
  refused: 'connections were refused: too many are open',
  closed: 'connections were closed that kept us waiting: others needed their places',
  hasty: 'connections were closed: they sent too many requests without waiting for an answer',
} as const

function talliesOf(log: Log, most: number) {
  const tell = (note: keyof typeof notes) =>
    tally(({ count, names }) => log.warn({ [note]: count, addresses: names, most }, notes[note]))
  return { refused: tell('refused'), closed: tell('closed'), hasty: tell('hasty') }
}

/** At the memory that unfinished bodies hold. */
const betweenLooks = 250

/**
 * Decides which connections a server takes. If places run short, one of those that keep us waiting
 * (for a request, for the rest of one, for an answer to be read) leaves: the one that has done
 * nothing for longest, of the same address if that holds too many, else of all. Bytes that trickle
 * in count as nothing. A connection that waits for our answer is never closed.
 */
export function limitConnections(
  server: Server,
  { limits, log }: { readonly limits: ConnectionLimits; readonly log: Log },
): LimitedConnections {
  const crowdedFrom = Math.floor((limits.most * 3) / 4)
  const connections = openConnections()
  const tallies = talliesOf(log, limits.most)
  const { refused, closed, hasty } = tallies
  const close = (connection: Connection) => {
    closed.add(connection.network.name)
    connections.leave(connection)
    connection.socket.destroy()
  }
  /** False if none of these can be made to leave. */
  const takePlaceOf = (open: Iterable<Connection>): boolean => {
    const leaver = connections.keepsUsWaiting(open)
    if (leaver !== undefined) close(leaver)
    return leaver !== undefined
  }
  const hoarding = setInterval(() => {
    for (const one of hoarders(connections.open)) close(one)
  }, betweenLooks).unref()
  /** False if none can be made to leave. */
  const makePlaceFor = ({ open }: Network): boolean => {
    const count = connections.open.size
    if (count >= crowdedFrom && open.size >= limits.perAddress) return takePlaceOf(open)
    return count < limits.most || takePlaceOf(connections.open)
  }
  // Before Node's own listener, and not by `maxConnections`, which refuses silently.
  server.prependListener('connection', (socket: Socket) => {
    const network = connections.networkOf(socket)
    if (makePlaceFor(network)) {
      connections.enter(socket, network)
    } else {
      refused.add(network.name)
      socket.destroy()
    }
  })
  return {
    get isCrowded() {
      return connections.open.size > crowdedFrom
    },
    begin: (incoming, outgoing) => {
      const { socket } = incoming
      // What was read from a connection before it was closed still arrives.
      if (socket.destroyed) return false
      if (connections.begin(incoming, outgoing) <= mostPipelined) return true
      hasty.add(connections.networkOf(socket).name)
      socket.destroy()
      return false
    },
    isWaitingForUs: connections.isWaitingForUs,
    answerDue: connections.answerDue,
    isBeingAnswered: connections.isBeingAnswered,
    end: () => {
      clearInterval(hoarding)
      for (const one of Object.values(tallies)) one.end()
    },
  }
}

/** For all unfinished bodies together: anybody can send that much, and then nothing more. */
const mostHeldBytes = 64 * 1024 * 1024
/** Callbacks are smaller: slow ones are left alone. */
const smallBody = 64 * 1024

/** Requests whose bodies are too much for the memory, all together: those that started first. */
function hoarders(open: Iterable<Connection>): readonly Connection[] {
  const holding = Array.from(open, (connection) => ({ connection, bytes: heldBy(connection) }))
  const large = holding.filter(({ bytes }) => bytes > smallBody)
  let total = large.reduce((sum, { bytes }) => sum + bytes, 0)
  return large.flatMap(({ connection, bytes }) => {
    if (total <= mostHeldBytes) return []
    total -= bytes
    return [connection]
  })
}

function heldBy({ socket, underWay }: Connection): number {
  const last = underWay.at(-1)
  // What comes after the answer is discarded.
  if (last === undefined || last.incoming.complete || last.outgoing.headersSent) return 0
  return socket.bytesRead - last.readBefore
}
