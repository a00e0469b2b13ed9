/**
 * The apps of endpoints, in a process of their own: some take what they get, others are dead, each in
 * a way of its own. Says where they are, and answers each message with what they have got.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import type { Places, Report } from './receivers.ts'
import { quantile } from './statistics.ts'

const [living = 0, dead = 0] = process.argv.slice(2).map(Number)

/** Of each that lives: the ids it has got, and when each came at first. */
const got = Array.from({ length: living }, () => new Map<string, number>())
let repeated = 0

function take(endpoint: number, request: IncomingMessage): void {
  const id = String(request.headers['webhook-id'])
  const mine = got[endpoint]
  if (mine?.has(id) === true) repeated += 1
  else mine?.set(id, performance.timeOrigin + performance.now())
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
}

const takes = (endpoint: number) =>
  createServer((request, response) => {
    take(endpoint, request)
    request.resume().once('end', () => response.writeHead(204).end())
  })

/** Where a dead one is, by turns. */
const deaths: readonly (() => Promise<string>)[] = [
  // It hangs.
  () => listen(createTcpServer(() => {})),
  // It refuses: nobody listens any more.
  async () => {
    const server = createTcpServer()
    const url = await listen(server)
    server.close()
    return url
  },
  () => Promise.resolve('http://nowhere.invalid/hooks'),
  // It resets the connection.
  () => listen(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()))),
]

function report(): Report {
  const times = got.flatMap((mine) => [...mine.values()]).toSorted((a, b) => a - b)
  return {
    fewest: Math.min(...got.map((mine) => mine.size)),
    repeated,
    p50At: quantile(times, 0.5),
    p99At: quantile(times, 0.99),
    lastAt: times.at(-1) ?? Number.NaN,
  }
}

process.on('message', () => process.send?.(report()))
process.once('disconnect', () => process.exit())

const places: Places = {
  living: await Promise.all(got.map((_, endpoint) => listen(takes(endpoint)))),
  dead: await Promise.all(
    Array.from(
      { length: dead },
      (_, index) => deaths[index % deaths.length]?.() ?? Promise.resolve(''),
    ),
  ),
}
process.send?.(places)
