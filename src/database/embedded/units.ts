import { readBinding, readPreparing, type NamedStatement } from './prepared.ts'
import { encode, ProtocolViolation, query, text, type Message } from './wire-protocol.ts'

/**
 * What the database runs in one go: a simple query, or all messages up to Sync (or Flush).
 * Messages of two clients never mix inside a unit, so an unnamed statement keeps its owner.
 */
export interface Unit {
  readonly bytes: Buffer
  /** False after a Flush: the client goes on with the same unit. */
  readonly complete: boolean
  /** What must be prepared before the bytes are run. */
  readonly statement?: NamedStatement | undefined
}

export interface Units {
  /** Adds a message; gives the unit that it completes. Throws a ProtocolViolation. */
  add(message: Message): Unit | undefined
}

/**
 * A COPY ... FROM STDIN would read on in the unit's bytes, reach their end and terminate the
 * database. This message ends it with an ordinary error, and is ignored everywhere else.
 */
const noCopy = encode('f', text('the embedded database does not take COPY FROM STDIN'))

/** Longer ones make PostgreSQL end the session, which everybody shares here. */
const shortMessageLimitBytes = 30_000

/** The error comes from the database itself, so that an open transaction is aborted as well. */
export const refusal = query(
  `do $$ begin raise exception using errcode = '0A000', message =
  'the embedded database does not take named prepared statements',
  hint = 'Leave the statement unnamed: its clients share one session.'; end $$`,
)

/** What of the next unit has come. */
interface Gathered {
  readonly limitBytes: number
  parts: Buffer[]
  size: number
  /** What it begins with. */
  statement: NamedStatement | undefined
  /** It prepares what is not ours. */
  isRefused: boolean
  /** The database already runs a part of it. */
  isPartial: boolean
}

/** Gathers the messages of one client into units. */
export function createUnits(limitBytes: number): Units {
  const unit: Gathered = {
    limitBytes,
    parts: [],
    size: 0,
    statement: undefined,
    isRefused: false,
    isPartial: false,
  }
  return {
    add(message) {
      const { type, bytes } = message
      switch (type) {
        case 'P':
          return prepare(unit, message)
        case 'B':
          return bind(unit, message)
        case 'D':
        case 'C':
          return put(unit, short(bytes))
        case 'E':
          return put(unit, short(bytes), noCopy)
        case 'Q':
          put(unit, bytes, noCopy)
          return finish(unit, true)
        case 'H':
        case 'S':
          put(unit, short(bytes))
          return finish(unit, type === 'S')
        case 'd':
        case 'c':
        case 'f':
          // The rest of a COPY that was already refused.
          return undefined
        default:
          throw new ProtocolViolation(`message type ${JSON.stringify(type)} is not accepted`)
      }
    },
  }
}

function put(unit: Gathered, ...bytes: readonly Buffer[]): undefined {
  for (const part of bytes) {
    unit.parts.push(part)
    unit.size += part.length
  }
  if (unit.size > unit.limitBytes) {
    throw new ProtocolViolation(`a unit over ${unit.limitBytes} bytes`)
  }
}

/** What a unit of ours prepares is its first message: the session may have it already. */
function prepare(unit: Gathered, message: Message): undefined {
  const statement = isFirst(unit) ? readPreparing(message) : undefined
  if (statement === undefined) {
    unit.isRefused ||= message.bytes.at(5) !== 0
    put(unit, message.bytes)
  } else {
    unit.statement = statement
    unit.size += message.bytes.length
  }
}

function bind(unit: Gathered, message: Message): undefined {
  if (isFirst(unit)) unit.statement = readBinding(message)
  put(unit, message.bytes)
}

/** Behind a Flush the database may skip everything until the Sync, and would not prepare it. */
function isFirst({ parts, statement, isPartial }: Gathered): boolean {
  return parts.length === 0 && statement === undefined && !isPartial
}

function finish(unit: Gathered, complete: boolean): Unit {
  const { parts, statement, isRefused, isPartial } = unit
  // With a Flush it cannot be replaced as a whole.
  const isNamed = isRefused || statement?.parse !== undefined
  if (isNamed && (isPartial || !complete)) {
    throw new ProtocolViolation('a named statement and Flush')
  }
  unit.parts = []
  unit.size = 0
  unit.statement = undefined
  unit.isRefused = false
  unit.isPartial = !complete
  return isRefused
    ? { bytes: refusal, complete }
    : { bytes: Buffer.concat(parts), complete, statement }
}

function short(bytes: Buffer): Buffer {
  if (bytes.length > shortMessageLimitBytes) {
    throw new ProtocolViolation(`a message of ${bytes.length} bytes is not accepted`)
  }
  return bytes
}
