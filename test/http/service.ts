import { connect } from 'node:net'
import { describe } from 'node:test'
import { Writable } from 'node:stream'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { healthPaths } from '../../src/http/health.ts'
import { plainCallbacks } from '../../src/http/plain-callbacks.ts'
import { listen, type Arrival, type HttpServer, type ListenOptions } from '../../src/http/serve.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { createLog, type Log } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { postgres } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { muchPatience } from '../support/patience.ts'
import { setVariable } from '../support/set-variable.ts'
import { until } from '../support/until.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { requireForm } from './answers.ts'

export const apiToken = 'test-token-for-the-management-api'
export const signingSecret = 'whsec_test_of_the_http_routes'
export const origin = 'https://pay.example.test'
export const maxBodyBytes = 100_000

export interface Service extends AsyncDisposable {
  readonly core: BillingCore
  readonly listening: HttpServer
  readonly log: Log
  /** Lines that were logged so far. */
  readonly logged: readonly string[]
  post(path: string, body: string | Uint8Array, headers?: Record<string, string>): Promise<Response>
  /** A request to the management API; each answer must have its form. */
  api(path: string, init?: RequestInit): Promise<Response>
}

export interface ServiceOptions {
  readonly billing?: BillingOptions
  readonly app?: Partial<AppOptions>
  readonly limits?: Pick<
    ListenOptions,
    'maxConnections' | 'connectionsPerAddress' | 'keepAlive' | 'arrival'
  >
  /** Whether calls are processed; without it they stay pending. */
  readonly work?: boolean
  /** Whether plain callbacks are answered below the app, as `serve` does; default true. */
  readonly plain?: boolean
}

/** Runs tests with plain callbacks answered below the app, and with all of them answered by it. */
export function forEachWay(run: (way: { readonly plain: boolean }) => void): void {
  describe('plain callbacks are answered below the app', () => run({ plain: true }))
  describe('the app answers everything', () => run({ plain: false }))
}

/** For senders on a machine with much else to do. */
export const slowly: Arrival = {
  headersTimeout: minutes(2),
  requestTimeout: minutes(2),
  connectionsCheckingInterval: minutes(1),
}

/** A database that nobody else has, and how to be rid of it. */
export interface OwnDatabase {
  readonly database: NonNullable<BillingOptions['database']>
  remove(): Promise<void>
}

/** On the server of the tests: the embedded one, without a server, costs ten times as much to open. */
export async function ownDatabase(): Promise<OwnDatabase> {
  if (setVariable('QUITTANCE_TEST_POSTGRES') !== undefined) {
    const { url = '', drop } = await postgres.create()
    return { database: { url, poolSize: 5 }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  return { database: { dataDir }, remove: async () => remove() }
}

/** The real core behind the real server on a free port, on a database of its own if none is given. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { log, logged } = capturedLog()
  const given = options.billing?.database
  const own = given?.url === undefined ? await ownDatabase() : undefined
  // A failure on the way closes what is open: an open core keeps the file from ending.
  await using opened = new AsyncDisposableStack()
  opened.defer(() => own?.remove())
  const core = createCore(
    {
      url: origin,
      gateways: { stripe: { signing_secret: signingSecret } },
      log,
      ...options.billing,
      database: { ...own?.database, ...given },
    },
    { patience: muchPatience },
  )
  opened.defer(() => core.close())
  await core.start()
  const worker = options.work === false ? undefined : await core.work()
  opened.defer(() => worker?.stop())
  const appOptions = {
    apiToken: [secret(apiToken)],
    maxBodyBytes,
    webhookMiddleware: [],
    log,
    ...options.app,
  }
  const plain =
    options.plain === false
      ? undefined
      : plainCallbacks(core, { ...appOptions, ownPaths: healthPaths })
  const where = { host: '127.0.0.1', port: 0, log, plain, arrival: slowly, ...options.limits }
  const listening = await listen(createApp(core, appOptions), where)
  opened.defer(() => listening.close(1_000))
  const kept = opened.move()
  const { url: at } = listening
  const authorization = `Bearer ${apiToken}`
  return {
    core,
    listening,
    log,
    logged,
    post: (path, body, headers = {}) =>
      fetch(at + path, { method: 'POST', body: Buffer.from(body), headers }),
    api: async (path, init = {}) => {
      const answer = await fetch(`${at}/billing/api${path}`, {
        headers: { authorization },
        ...init,
      })
      await requireForm(init.method ?? 'GET', path, answer)
      return answer
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export function capturedLog() {
  const logged: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk))
      done()
    },
  })
  return { log: createLog({ level: 'info', destination }), logged }
}

export const order: Parameters<BillingCore['payments']['create']>[0] = {
  gateway: 'fake',
  amount: 125_000,
  currency: 'UAH',
  payable: { type: 'order', id: '42' },
}

export function fakeCallback(payment: Pick<Payment, 'id'>, result = 'success'): string {
  return JSON.stringify({ payment_id: payment.id, result })
}

/** Waits until the look finds something. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined
  const isThere = async () => (found = await look()) !== undefined
  await until(isThere, { what: 'what is looked for is there' })
  return found as T
}

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Exchange {
  readonly answers: readonly RawAnswer[]
  /** The server ended the connection. */
  readonly closed: boolean
}

export interface ExchangeOptions {
  /** Leave after so many answers. */
  readonly answers?: number
  /** How the pieces come: each once the one before has its answer, or is on its way. */
  readonly pieces?: 'answered' | 'sent'
  /** The last piece trickles in again and again, with this pause in between. */
  readonly trickleMs?: number
}

/** Sends exact bytes and reads what comes back, until the server closes or enough is there. */
export async function exchange(
  port: number,
  pieces: string | readonly string[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { answers = Infinity, pieces: coming = 'sent', trickleMs } = options
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  const read = () => readAnswers(Buffer.concat(received))
  let closed = false
  socket.on('data', (chunk) => received.push(Buffer.from(chunk)))
  socket.on('error', () => {})
  for (const end of ['end', 'close']) socket.on(end, () => (closed = true))
  const isDone = () => closed || read().length >= answers
  const all = typeof pieces === 'string' ? [pieces] : pieces
  for (const [index, piece] of all.entries()) {
    if (socket.writable) await new Promise<unknown>((sent) => socket.write(piece, 'latin1', sent))
    if (coming === 'sent') continue
    await until(() => isDone() || read().length > index, { what: 'a piece is answered' })
  }
  const trickle = setInterval(
    () => {
      if (socket.writable) socket.write(all.at(-1) ?? '', 'latin1')
    },
    trickleMs ?? minutes(1),
  )
  if (trickleMs === undefined) clearInterval(trickle)
  await until(isDone, { what: 'the server has answered, or ended the connection' }).finally(() => {
    clearInterval(trickle)
    socket.destroy()
  })
  return { answers: read(), closed }
}

function readAnswers(bytes: Buffer): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes.toString('latin1')
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return answers
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const status = Number(first.split(' ')[1])
    const length = status === 100 ? 0 : Number(headers.get('content-length') ?? 0)
    if (rest.length < end + 4 + length) return answers
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
}
