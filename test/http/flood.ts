import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { until } from '../support/until.ts'

const cheapRequest = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'

/** Ways to hold connections without any credential: what each says first, and now and then. */
export const attacks = {
  /** Asks for something cheap. */
  'keep-alive connections that ask now and then': [cheapRequest, cheapRequest],
  /** Never finishes the headers of its request. */
  'requests whose headers trickle in': ['POST /billing/webhooks/stripe HTTP/1.1\r\nX-A: ', 'a'],
  'connections that say nothing': ['', ''],
  /** Each of them is a request under way. */
  'requests whose bodies trickle in': [
    'POST /billing/webhooks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n',
    'a',
  ],
} as const satisfies Record<string, readonly [string, string]>

export type Attack = keyof typeof attacks

export interface FloodOptions {
  readonly port: number
  readonly attack: Attack
  /** Local addresses that the connections come from, in turn. */
  readonly from: readonly string[]
  readonly sockets: number
}

export interface Flood extends AsyncDisposable {
  /** Connections that stand now. */
  readonly open: number
  /** How often one was ended or refused by the server. */
  readonly lost: number
  /** Each connection gives a sign of life, and those that were closed are opened again. */
  goOn(): void
}

/** Holds so many connections until it is disposed of. */
export async function flood(options: FloodOptions): Promise<Flood> {
  const held = new Set<Socket>()
  const standing = new Set<Socket>()
  /** The numbers of those to be opened again. */
  const closed: number[] = []
  const [first, nowAndThen] = attacks[options.attack]
  let lost = 0
  const hold = (index: number) => {
    const localAddress = options.from[index % options.from.length]
    const socket = connect({ port: options.port, host: '127.0.0.1', localAddress })
    held.add(socket)
    socket.on('error', () => {})
    socket.once('connect', () => {
      standing.add(socket)
      socket.write(first)
    })
    socket.once('close', () => {
      held.delete(socket)
      standing.delete(socket)
      lost += 1
      closed.push(index)
    })
    socket.resume()
  }
  for (let index = 0; index < options.sockets; index += 1) {
    hold(index)
    // The queue of the listening socket is not what is attacked here.
    const isDecided = () => standing.size + lost > index
    if (index % 50 === 49) await until(isDecided, { what: 'these connections are taken, or lost' })
  }
  return {
    goOn() {
      for (const socket of standing) socket.write(nowAndThen)
      for (const index of closed.splice(0)) hold(index)
    },
    get open() {
      return standing.size
    },
    get lost() {
      return lost
    },
    [Symbol.asyncDispose]: () => {
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
      { method: 'POST', headers, agent: false, localAddress: '127.0.0.1' },
      (answer) => {
        answer.resume()
        answer.once('close', () => resolve(answer.statusCode))
      },
    )
    outgoing.once('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
