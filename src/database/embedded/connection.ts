import type { Socket } from 'node:net'
import type { Client, Turns } from './turns.ts'
import { createUnits, type Units } from './units.ts'
import {
  createFrames,
  encode,
  fatal,
  int32,
  ProtocolViolation,
  startupCode,
  startupCodes,
  startupParameters,
  type Frames,
  type Message,
  welcome,
} from './wire-protocol.ts'

export interface ConnectionOptions {
  readonly turns: Turns
  /** What PostgreSQL reports about itself when a session starts. */
  readonly parameters: Readonly<Record<string, string>>
  /** A number that identifies this connection, in place of a process id. */
  readonly number: number
}

const mebibyte = 1024 * 1024
/** Also the limit of a whole unit. */
export const messageLimitBytes = 64 * mebibyte
/** How much one client may have waiting, or leave unread, before its socket is no longer read. */
const waitingUnitsLimit = 64
const unreadLimitBytes = 8 * mebibyte
/** How long a dismissed client has to read why. */
const lastWordsMs = 1000
const protocolMajor = 3

interface Connection extends Client {
  readonly socket: Socket
  readonly frames: Frames
  readonly gathered: Units
}

/** Talks to one client until it leaves: answers its start-up, and passes its units to the turns. */
export function serveConnection(socket: Socket, options: ConnectionOptions): Client {
  const connection: Connection = {
    socket,
    frames: createFrames(messageLimitBytes),
    gathered: createUnits(messageLimitBytes),
    units: [],
    gone: false,
    statementLimitMs: 0,
    send(response) {
      if (socket.writable) socket.write(response)
      resume()
    },
    dismiss(code, message) {
      if (socket.writable) socket.end(fatal(code, message))
      // A client that reads nothing must not keep its transaction until the last message is out.
      options.turns.leave(connection)
      setTimeout(() => socket.destroy(), lastWordsMs).unref()
    },
  }
  const receive = () => {
    try {
      readMessages(connection, options)
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error
      connection.dismiss('08P01', error.message)
    }
  }
  const resume = () => {
    if (!socket.isPaused() || isCrowded(connection)) return
    socket.resume()
    // Messages that arrived before the pause are waiting in the frames.
    receive()
  }
  socket.on('data', (chunk) => {
    connection.frames.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk))
    receive()
  })
  socket.on('drain', resume)
  // The reason does not matter: 'close' follows.
  socket.on('error', () => socket.destroy())
  socket.on('close', () => options.turns.leave(connection))
  return connection
}

function isCrowded({ units, socket }: Connection): boolean {
  return units.length >= waitingUnitsLimit || socket.writableLength > unreadLimitBytes
}

function readMessages(connection: Connection, options: ConnectionOptions): void {
  const { socket, frames } = connection
  while (!connection.gone) {
    if (isCrowded(connection)) {
      socket.pause()
      return
    }
    const message = frames.next()
    if (message === undefined) return
    if (message.type === 'startup') greet(connection, message, options)
    else if (message.type === 'X') leave(connection, options.turns)
    else {
      const unit = connection.gathered.add(message)
      if (unit !== undefined) options.turns.submit(connection, unit)
    }
  }
}

function leave(connection: Connection, turns: Turns): void {
  turns.leave(connection)
  connection.socket.end()
}

/**
 * Start-up options are ignored: they would change the one session for everybody. But for how long a
 * statement may take: nothing ends it here, and who watches the database waits for so long.
 */
function greet(connection: Connection, message: Message, options: ConnectionOptions): void {
  const { socket } = connection
  const code = startupCode(message)
  if (code === startupCodes.ssl || code === startupCodes.gss) {
    socket.write('N')
    return
  }
  if (code === startupCodes.cancel) {
    socket.end()
    return
  }
  const minor = code % 0x1_00_00
  if ((code - minor) / 0x1_00_00 !== protocolMajor) {
    throw new ProtocolViolation(`protocol version ${(code - minor) / 0x1_00_00} is not known`)
  }
  if (minor > 0) socket.write(encode('v', int32(protocolMajor * 0x1_00_00), int32(0)))
  const limit = startupParameters(message).get('statement_timeout') ?? ''
  if (/^\d{1,9}$/.test(limit)) connection.statementLimitMs = Number(limit)
  socket.write(welcome(options.parameters, options.number))
}
