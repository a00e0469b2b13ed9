import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Ways to hold connections without any credential. */
export const attacks = {
  /** Asks for something cheap now and then. */
  'keep-alive connections that ask now and then': (socket: Socket, every: number) => {
    const ask = () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.once('connect', ask)
    const timer = setInterval(ask, every)
    socket.once('close', () => clearInterval(timer))
  },
  /** Never finishes the headers of its request. */
  'requests whose headers trickle in': (socket: Socket, every: number) => {
    socket.once('connect', () => socket.write('POST /billing/webhooks/stripe HTTP/1.1\r\nX-A: '))
    const timer = setInterval(() => socket.write('a'), every)
    socket.once('close', () => clearInterval(timer))
  },
  'connections that say nothing': () => {},
  /** Each of them is a request under way. */
  'requests whose bodies trickle in': (socket: Socket, every: number) => {
    const head = 'POST /billing/webhooks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n'
    socket.once('connect', () => socket.write(head))
    const timer = setInterval(() => socket.write('a'), every)
    socket.once('close', () => clearInterval(timer))
  },
} as const satisfies Record<string, (socket: Socket, every: number) => void>

export type Attack = keyof typeof attacks

export interface FloodOptions {
  readonly port: number
  readonly attack: Attack
  /** Local addresses that the connections come from, in turn. */
  readonly from: readonly string[]
  readonly sockets: number
  /** Between two signs of life on one connection. */
  readonly every: number
  /** A connection that was closed is opened again after so long. */
  readonly reopenAfter: number
}

export interface Flood extends AsyncDisposable {
  /** Connections that stand now. */
  readonly open: number
  /** How often one was ended or refused by the server. */
  readonly lost: number
}

/** Holds so many connections, opening each again that is closed, until it is disposed of. */
export async function flood(options: FloodOptions): Promise<Flood> {
  const held = new Set<Socket>()
  const standing = new Set<Socket>()
  let lost = 0
  let isOver = false
  const hold = (index: number) => {
    if (isOver) return
    const localAddress = options.from[index % options.from.length]
    const socket = connect({ port: options.port, host: '127.0.0.1', localAddress })
    held.add(socket)
    socket.on('error', () => {})
    socket.once('connect', () => standing.add(socket))
    socket.once('close', () => {
      held.delete(socket)
      standing.delete(socket)
      lost += 1
      setTimeout(hold, options.reopenAfter, index).unref()
    })
    socket.resume()
    attacks[options.attack](socket, options.every)
  }
  for (let index = 0; index < options.sockets; index += 1) {
    hold(index)
    // The queue of the listening socket is not what is attacked here.
    if (index % 50 === 49) await pause(10)
  }
  return {
    get open() {
      return standing.size
    },
    get lost() {
      return lost
    },
    [Symbol.asyncDispose]: () => {
      isOver = true
      const ended = [...held].map((socket) => new Promise((end) => socket.once('close', end)))
      for (const socket of held) socket.destroy()
      return Promise.all(ended).then(() => {})
    },
  }
}

/** Posts on a connection of its own, as providers do; undefined where it was not answered. */
export function postOnce(
  url: string,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(
      url,
      { method: 'POST', headers, agent: false, localAddress: '127.0.0.1', timeout: 10_000 },
      (answer) => {
        answer.resume()
        answer.once('close', () => resolve(answer.statusCode))
      },
    )
    outgoing.once('timeout', () => outgoing.destroy())
    outgoing.once('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
