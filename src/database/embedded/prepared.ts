import { nameOf } from '../named-statements.ts'
import { encode, sync, text, textsIn, type Message } from './wire-protocol.ts'

/** A statement of ours that a connection prepares under a name. */
export interface NamedStatement {
  readonly name: string
  /** The whole message. */
  readonly bytes: Buffer
}

/** If the message prepares a statement of ours; any other has no name here. */
export function readNamedStatement({ bytes }: Message): NamedStatement | undefined {
  const [name = '', sql = ''] = textsIn(bytes, 2)
  return name !== '' && nameOf(sql) === name ? { name, bytes } : undefined
}

type Run = (bytes: Buffer) => Promise<Buffer>

/** The statements of ours that the one session has prepared, for all clients. */
export interface Prepared {
  /** Whether another text has this name. */
  isTaken(statement: NamedStatement): boolean
  /** Runs bytes, and before them prepares what comes with them, unless it is. */
  run(bytes: Buffer, statement?: NamedStatement): Promise<Buffer>
  /** Prepares all of them again, in a session that has lost them. */
  restore(): Promise<void>
}

const parseComplete = encode('1')
const closeComplete = encode('3')

export function createPrepared(run: Run): Prepared {
  const known = new Map<string, Buffer>()
  const prepare = async ({ name, bytes }: NamedStatement, next: Buffer) => {
    // Whether the session still has it or not.
    const close = encode('C', Buffer.from('S'), text(name))
    const response = (await run(Buffer.concat([close, bytes, next]))).subarray(closeComplete.length)
    if (response[0] === parseComplete[0]) known.set(name, Buffer.from(bytes))
    else known.delete(name)
    return response
  }
  /** Each connection prepares it once, as it believes; the session has it from the first. */
  const runKnown = async (bytes: Buffer, statement?: NamedStatement) => {
    const response = await run(bytes)
    // A listener may drop what is not its own, behind a statement that does not show it.
    if (isUnknownStatement(response)) known.clear()
    return statement === undefined ? response : Buffer.concat([parseComplete, response])
  }
  return {
    isTaken: ({ name, bytes }) => known.get(name)?.equals(bytes) === false,
    run: (bytes, statement) =>
      statement === undefined || known.has(statement.name)
        ? runKnown(bytes, statement)
        : prepare(statement, bytes),
    async restore() {
      for (const [name, bytes] of known) await prepare({ name, bytes }, sync)
    },
  }
}

const errorLetter = 0x45

/** An error is the first answer to what cannot be bound; its code is one of its fields. */
function isUnknownStatement(response: Buffer): boolean {
  return response[0] === errorLetter && response.includes('C26000\0')
}
