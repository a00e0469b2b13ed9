/** PostgreSQL's wire protocol 3, as far as a server needs it: frames in, a few messages out. */

/** One frontend message: its type letter and all its bytes, header included. */
export interface Message {
  readonly type: string
  readonly bytes: Buffer
}

/** What the peer sent breaks the protocol: nothing after it can be understood. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation'
}

/** Splits a byte stream into messages without copying a large one more than once. */
export interface Frames {
  push(chunk: Buffer): void
  /** The next complete message, or undefined. Throws a ProtocolViolation. */
  next(): Message | undefined
}

const typeBytes = 1
const lengthBytes = 4
const startupLimitBytes = 10_000

/** The first packet has no type letter; it comes out with the type `startup`. */
export function createFrames(messageLimitBytes: number): Frames {
  let chunks: Buffer[] = []
  let size = 0
  let needed = lengthBytes
  let started = false

  const gather = (): Buffer => {
    const [first, ...others] = chunks
    const whole = first !== undefined && others.length === 0 ? first : Buffer.concat(chunks, size)
    chunks = [whole]
    return whole
  }

  const next = (): Message | undefined => {
    if (size < needed) return undefined
    const whole = gather()
    const head = started ? typeBytes : 0
    const length = whole.readUInt32BE(head)
    if (length < lengthBytes || length > (started ? messageLimitBytes : startupLimitBytes)) {
      throw new ProtocolViolation(`a message of ${length} bytes is not accepted`)
    }
    needed = head + length
    if (size < needed) return undefined
    const bytes = whole.subarray(0, needed)
    const type = started ? String.fromCharCode(bytes.readUInt8(0)) : 'startup'
    chunks = [whole.subarray(needed)]
    size -= needed
    needed = (started ? typeBytes : 0) + lengthBytes
    return { type, bytes }
  }

  return {
    push(chunk) {
      chunks.push(chunk)
      size += chunk.length
    },
    next() {
      const message = next()
      // SSL and GSS requests are followed by a second packet of the same untyped form.
      if (message !== undefined && !started && isSessionStart(message)) {
        started = true
        needed = typeBytes + lengthBytes
      }
      return message
    },
  }
}

export const startupCodes = { cancel: 80_877_102, ssl: 80_877_103, gss: 80_877_104 } as const

/** The request code or protocol version of an untyped first packet. */
export function startupCode(message: Message): number {
  return message.bytes.length < 8 ? 0 : message.bytes.readUInt32BE(4)
}

/** What the first packet of a session asks for, e.g. `user` or `statement_timeout`. */
export function startupParameters({ bytes }: Message): ReadonlyMap<string, string> {
  const texts = bytes.toString('utf8', 8).split('\0')
  const parameters = new Map<string, string>()
  for (let at = 0; at + 1 < texts.length; at += 2) {
    parameters.set(texts[at] ?? '', texts[at + 1] ?? '')
  }
  return parameters
}

function isSessionStart(message: Message): boolean {
  const code = startupCode(message)
  return code !== startupCodes.ssl && code !== startupCodes.gss
}

/** Builds one message: type letter, length, parts. */
export function encode(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(typeBytes + lengthBytes)
  head.write(type, 0, 'latin1')
  head.writeUInt32BE(body.length + lengthBytes, typeBytes)
  return Buffer.concat([head, body])
}

export const text = (value: string): Buffer => Buffer.from(`${value}\0`, 'utf8')

/** The first texts of a message, which end with a zero. */
export function textsIn(bytes: Buffer, count: number): readonly string[] {
  const texts: string[] = []
  let at = typeBytes + lengthBytes
  while (texts.length < count) {
    const end = bytes.indexOf(0, at)
    if (end === -1) return texts
    texts.push(bytes.toString('utf8', at, end))
    at = end + 1
  }
  return texts
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export const query = (sql: string): Buffer => encode('Q', text(sql))
export const sync: Buffer = encode('S')

/** The end of a session, as PostgreSQL says it. `code` is a SQLSTATE. */
export function fatal(code: string, message: string): Buffer {
  const field = (letter: string, value: string) => text(`${letter}${value}`)
  const fields = [field('S', 'FATAL'), field('V', 'FATAL'), field('C', code), field('M', message)]
  return encode('E', ...fields, Buffer.from([0]))
}

/** The whole answer to a start-up packet: no password, our settings, ready. */
export function welcome(parameters: Readonly<Record<string, string>>, processId: number): Buffer {
  return Buffer.concat([
    encode('R', int32(0)),
    ...Object.entries(parameters).map(([name, value]) => encode('S', text(name), text(value))),
    encode('K', int32(processId), int32(0)),
    encode('Z', Buffer.from('I')),
  ])
}

/** `idle` outside a transaction, `open` inside one, `partial` before the unit's Sync. */
export type SessionState = 'idle' | 'open' | 'partial'

export interface ReadResponse {
  readonly state: SessionState
  /** A command whose effect outlives its transaction in the one session that all clients share. */
  readonly leavesTrace: boolean
}

const tracingTags = /^(?:SET|LISTEN|PREPARE|DEALLOCATE|DEALLOCATE ALL|DISCARD ALL|DECLARE CURSOR)\0/

/** Reads a complete answer of the database: the state that it ends in, and what it may leave. */
export function readResponse(response: Buffer): ReadResponse {
  let state: SessionState = 'partial'
  let leavesTrace = false
  let at = 0
  while (at + typeBytes + lengthBytes <= response.length) {
    const end = at + typeBytes + response.readUInt32BE(at + typeBytes)
    const type = response[at]
    if (type === 0x5a) state = response[at + 5] === 0x49 ? 'idle' : 'open'
    if (type === 0x43) leavesTrace ||= tracingTags.test(response.toString('latin1', at + 5, end))
    at = end
  }
  return { state, leavesTrace }
}
