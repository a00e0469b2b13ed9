import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/**
 * What befalls a statement:
 * - `cut_before`: the connection goes before the server has seen the statement;
 * - `cut_answer`: the server carries it out (alone, it is committed), the answer is lost;
 * - `hold`: it waits in front of the server until it is released;
 * - `hold_answer`: the server carries it out, the answer waits until it is released.
 */
export type Fault = 'cut_before' | 'cut_answer' | 'hold' | 'hold_answer'

export interface ArmedFault {
  /** The fault has happened; for `*_answer` the server has answered by then. */
  readonly struck: Promise<void>
  /** Lets go what is held; later statements pass. */
  release(): void
}

/** Stands between a client and PostgreSQL and passes on every byte, until it is told otherwise. */
export interface CutProxy {
  readonly url: string
  /** The texts of all statements that came by, in their order. */
  readonly statements: string[]
  /** Lets a fault befall the next statement that matches, or the one of this number from here on. */
  next(statement: RegExp | number, fault: Fault): ArmedFault
  /** Cuts every connection. */
  cut(): void
  /** Cuts every connection and refuses new ones, as a server that is down does. */
  refuse(): Promise<void>
  /** Takes connections again, at the same address. */
  accept(): Promise<void>
  /**
   * Cuts every connection; later ones reach a server that refuses every write, as a standby does,
   * and stay with it for as long as they live, wherever this address leads afterwards.
   */
  failOver(): void
  /** Later connections reach the server that writes. */
  promote(): void
  /** How many connections to the server that refuses writes are open. */
  readOnlyConnections(): number
  close(): Promise<void>
}

interface Rule extends ArmedFault {
  readonly fault: Fault
  readonly released: Promise<void>
  matches(statement: string): boolean
  strike(): void
}

interface Proxied {
  readonly target: { readonly host: string; readonly port: number }
  readonly statements: string[]
  readonly rules: Set<Rule>
  readonly sockets: Set<Socket>
  /** Of clients that were led to the server that refuses writes. */
  readonly readOnly: Set<Socket>
  failedOver: boolean
}

export async function startCutProxy(serverUrl: string): Promise<CutProxy> {
  const url = new URL(serverUrl)
  const proxied: Proxied = {
    target: { host: url.hostname, port: Number(url.port || 5432) },
    statements: [],
    rules: new Set(),
    sockets: new Set(),
    readOnly: new Set(),
    failedOver: false,
  }
  let server = await listen(proxied, 0)
  const { port } = server.address() as AddressInfo
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const cut = () => {
    for (const socket of proxied.sockets) socket.destroy()
  }
  const refuse = async () => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    cut()
    await closed
  }
  return {
    url: url.href,
    statements: proxied.statements,
    next: (statement, fault) => arm(proxied, statement, fault),
    cut,
    refuse,
    accept: async () => {
      server = await listen(proxied, port)
    },
    failOver: () => {
      proxied.failedOver = true
      cut()
    },
    promote: () => {
      proxied.failedOver = false
    },
    readOnlyConnections: () => proxied.readOnly.size,
    close: async () => {
      for (const rule of proxied.rules) rule.release()
      if (server.listening) await refuse()
    },
  }
}

function listen(proxied: Proxied, port: number): Promise<Server> {
  const server = createServer((client) => relay(client, proxied))
  return new Promise((ready, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', () => ready(server))
  })
}

/** A statement that never comes fails its test instead of hanging it. */
const strikeWithinMs = 180_000

function arm(proxied: Proxied, statement: RegExp | number, fault: Fault): ArmedFault {
  const struck = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const late = new Error(`no statement matched ${statement} within ${strikeWithinMs / 1000} s`)
  const timer = setTimeout(() => struck.reject(late), strikeWithinMs)
  struck.promise.catch(() => {})
  let seen = 0
  const rule: Rule = {
    matches: (text) =>
      typeof statement === 'number' ? (seen += 1) === statement : statement.test(text),
    fault,
    struck: struck.promise,
    released: released.promise,
    strike: () => {
      clearTimeout(timer)
      struck.resolve()
    },
    release: () => {
      clearTimeout(timer)
      proxied.rules.delete(rule)
      released.resolve()
    },
  }
  proxied.rules.add(rule)
  return rule
}

/** Both directions of one connection; each waits for what it has written before it reads on. */
function relay(client: Socket, proxied: Proxied): void {
  const server = connect(proxied.target)
  const end = () => {
    client.destroy()
    server.destroy()
  }
  let answering: Rule | undefined
  const statementOf = readStatements()
  const { failedOver } = proxied
  if (failedOver) proxied.readOnly.add(client)
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    proxied.sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', end)
    socket.on('close', () => {
      proxied.sockets.delete(socket)
      proxied.readOnly.delete(socket)
      // Not destroyed: a last word, such as why the server ends the connection, still arrives.
      other.end()
    })
  }

  const upwards = async (message: Buffer) => {
    const rule = ruleFor(statementOf(message), proxied)
    if (rule?.fault === 'cut_before') {
      rule.strike()
      return end()
    }
    if (rule?.fault === 'hold') {
      rule.strike()
      await rule.released
    } else if (rule !== undefined) {
      answering = rule
    }
    server.write(failedOver && isStartup(message) ? asReadOnly(message) : message)
  }
  const downwards = async (message: Buffer) => {
    // The client takes nothing for done before this last message of an answer.
    if (answering !== undefined && message[0] === readyForQuery) {
      const rule = answering
      answering = undefined
      rule.strike()
      if (rule.fault === 'cut_answer') return end()
      await rule.released
    }
    if (answering?.fault === 'cut_answer') return
    client.write(message)
  }
  void pump(client, { startup: true }, upwards).catch(end)
  void pump(server, { startup: false }, downwards).catch(end)
}

const readyForQuery = 'Z'.charCodeAt(0)
const parse = 'P'.charCodeAt(0)
const bind = 'B'.charCodeAt(0)
const simpleQuery = 'Q'.charCodeAt(0)

/** Only the message that begins a connection has no type byte: its length comes first. */
function isStartup(message: Buffer): boolean {
  return message[0] === 0
}

/** The startup message with one parameter more, in front of the zero byte that ends their list. */
function asReadOnly(startup: Buffer): Buffer {
  const parameter = Buffer.from('options\0-c default_transaction_read_only=on\0')
  const message = Buffer.concat([startup.subarray(0, -1), parameter, startup.subarray(-1)])
  message.writeUInt32BE(message.length)
  return message
}

function ruleFor(text: string | undefined, { statements, rules }: Proxied): Rule | undefined {
  if (text === undefined) return undefined
  statements.push(text)
  const rule = [...rules].find(({ matches }) => matches(text))
  if (rule !== undefined) rules.delete(rule)
  return rule
}

/** Of one connection: the text of the statement that a message begins, without its name's comment. */
function readStatements(): (message: Buffer) => string | undefined {
  const prepared = new Map<string, string>()
  let parsed = ''
  return (message) => {
    const text = (start: number) => message.toString('utf8', start, message.indexOf(0, start))
    if (message[0] === simpleQuery) return text(5)
    if (message[0] === parse) {
      parsed = text(5)
      const statement = text(message.indexOf(0, 5) + 1).replace(/^\/\* quittance:[a-z-]+ \*\/ /, '')
      prepared.set(parsed, statement)
      return statement
    }
    if (message[0] !== bind) return undefined
    // Behind the name of its portal. What was just parsed has been seen.
    const name = text(message.indexOf(0, 5) + 1)
    const isNew = name !== parsed && name !== ''
    parsed = ''
    return isNew ? prepared.get(name) : undefined
  }
}

/** Cuts the stream into the protocol's messages; only the first of a client has no type byte. */
async function pump(
  socket: Socket,
  { startup }: { startup: boolean },
  handle: (message: Buffer) => Promise<void>,
): Promise<void> {
  let rest = Buffer.alloc(0)
  let lengthAt = startup ? 0 : 1
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= lengthAt + 4) {
      const length = lengthAt + rest.readUInt32BE(lengthAt)
      if (rest.length < length) break
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      lengthAt = 1
      await handle(message)
    }
  }
}
