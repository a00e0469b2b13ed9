import { nameOf } from '../named-statements.ts'
import { encode, text, textsIn, type Message } from './wire-protocol.ts'

/** A prepared statement that a unit begins with. */
export interface NamedStatement {
  readonly name: string
  /** The message that prepares it; undefined: its client believes that this is done. */
  readonly parse?: Buffer
}

/** If the message prepares a statement of ours; any other has no name here. */
export function readPreparing({ bytes }: Message): NamedStatement | undefined {
  const [name = '', sql = ''] = textsIn(bytes, 2)
  return name !== '' && nameOf(sql) === name ? { name, parse: bytes } : undefined
}

/** If the message binds values to a prepared statement. */
export function readBinding({ bytes }: Message): NamedStatement | undefined {
  const [, name = ''] = textsIn(bytes, 2)
  return name === '' ? undefined : { name }
}

type Run = (bytes: Buffer) => Promise<Buffer>

/** The statements of ours that the one session prepares, once for all clients. */
export interface Prepared {
  /** Whether another text has this name. */
  isTaken(statement: NamedStatement): boolean
  /** Runs bytes, and before them prepares the statement that they begin with, unless it is. */
  run(bytes: Buffer, statement?: NamedStatement): Promise<Buffer>
  /** The session may have lost them: each is prepared again when it is next used. */
  forget(): void
}

const parseComplete = encode('1')
const closeComplete = encode('3')

export function createPrepared(run: Run): Prepared {
  const texts = new Map<string, Buffer>()
  const present = new Set<string>()
  const prepare = async (name: string, parse: Buffer, next: Buffer) => {
    // Whether the session still has it or not.
    const close = encode('C', Buffer.from('S'), text(name))
    const response = (await run(Buffer.concat([close, parse, next]))).subarray(closeComplete.length)
    if (response[0] !== parseComplete[0]) return response
    if (!texts.has(name)) texts.set(name, Buffer.from(parse))
    present.add(name)
    return response.subarray(parseComplete.length)
  }
  const runPresent = async (bytes: Buffer) => {
    const response = await run(bytes)
    // A listener may drop what is not its own, behind a statement that does not show it.
    if (isUnknownStatement(response)) present.clear()
    return response
  }
  return {
    isTaken: ({ name, parse }) => parse !== undefined && texts.get(name)?.equals(parse) === false,
    async run(bytes, statement) {
      if (statement === undefined) return run(bytes)
      const { name, parse } = statement
      const known = parse ?? texts.get(name)
      const isMissing = known !== undefined && !present.has(name)
      const response = await (isMissing ? prepare(name, known, bytes) : runPresent(bytes))
      // Who wants it prepared learns that it is, whoever did so first.
      return parse !== undefined && present.has(name)
        ? Buffer.concat([parseComplete, response])
        : response
    },
    forget: () => present.clear(),
  }
}

const errorLetter = 0x45

/** An error is the first answer to what cannot be bound; its code is one of its fields. */
function isUnknownStatement(response: Buffer): boolean {
  return response[0] === errorLetter && response.includes('C26000\0')
}
