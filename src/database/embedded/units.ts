import { encode, ProtocolViolation, query, text, type Message } from './wire-protocol.ts'

/**
 * What the database runs in one go: a simple query, or all messages up to Sync (or Flush).
 * Messages of two clients never mix inside a unit, so an unnamed statement keeps its owner.
 */
export interface Unit {
  readonly bytes: Buffer
  /** False after a Flush: the client goes on with the same unit. */
  readonly complete: boolean
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
const refusal = query(
  `do $$ begin raise exception using errcode = '0A000', message =
  'the embedded database does not take named prepared statements',
  hint = 'Leave the statement unnamed: its clients share one session.'; end $$`,
)

/** Gathers the messages of one client into units. */
export function createUnits(unitLimitBytes: number): Units {
  let parts: Buffer[] = []
  let size = 0
  let named = false
  let partial = false

  const put = (...bytes: readonly Buffer[]): undefined => {
    for (const part of bytes) {
      parts.push(part)
      size += part.length
    }
    if (size > unitLimitBytes) throw new ProtocolViolation(`a unit over ${unitLimitBytes} bytes`)
  }

  const finish = (complete: boolean): Unit => {
    // With a Flush the database already runs a part of it: it cannot be replaced as a whole.
    if (named && (partial || !complete)) throw new ProtocolViolation('a named statement and Flush')
    const bytes = named ? refusal : Buffer.concat(parts)
    partial = !complete
    named = false
    parts = []
    size = 0
    return { bytes, complete }
  }

  return {
    add({ type, bytes }) {
      switch (type) {
        case 'P':
          named ||= bytes.at(5) !== 0
          return put(bytes)
        case 'B':
          return put(bytes)
        case 'D':
        case 'C':
          return put(short(bytes))
        case 'E':
          return put(short(bytes), noCopy)
        case 'Q':
          put(bytes, noCopy)
          return finish(true)
        case 'H':
        case 'S':
          put(short(bytes))
          return finish(type === 'S')
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

function short(bytes: Buffer): Buffer {
  if (bytes.length > shortMessageLimitBytes) {
    throw new ProtocolViolation(`a message of ${bytes.length} bytes is not accepted`)
  }
  return bytes
}
