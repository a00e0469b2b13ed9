import { connect } from 'node:net'
import { describe } from 'node:test'
import { Writable } from 'node:stream'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { healthPaths } from '../../src/http/health.ts'
import { plainCallbacks } from '../../src/http/plain-callbacks.ts'
import { listen, type HttpServer, type ListenOptions } from '../../src/http/serve.ts'
import { createLog, type Log } from '../../src/kernel/log.ts'
import { secret } from '../../src/kernel/secret.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { migratedFolder } from '../support/embedded-template.ts'
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
  readonly limits?: Pick<ListenOptions, 'maxConnections' | 'connectionsPerAddress' | 'keepAlive'>
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

/** The real core on an embedded database, behind the real server on a free port. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { log, logged } = capturedLog()
  const place = migratedFolder()
  const core = createCore({
    url: origin,
    gateways: { stripe: { signing_secret: signingSecret } },
    log,
    ...options.billing,
    database: { dataDir: place.dataDir, ...options.billing?.database },
  })
  await core.start()
  const worker = options.work === false ? undefined : await core.work()
  const appOptions = {
    apiToken: secret(apiToken),
    maxBodyBytes,
    webhookMiddleware: [],
    log,
    ...options.app,
  }
  const plain =
    options.plain === false
      ? undefined
      : plainCallbacks(core, { ...appOptions, ownPaths: healthPaths })
  const where = { host: '127.0.0.1', port: 0, log, plain, ...options.limits }
  const listening = await listen(createApp(core, appOptions), where)
  const { url } = listening
  const authorization = `Bearer ${apiToken}`
  return {
    core,
    listening,
    log,
    logged,
    post: (path, body, headers = {}) =>
      fetch(url + path, { method: 'POST', body: Buffer.from(body), headers }),
    api: async (path, init = {}) => {
      const answer = await fetch(`${url}/billing/api${path}`, {
        headers: { authorization },
        ...init,
      })
      await requireForm(init.method ?? 'GET', path, answer)
      return answer
    },
    [Symbol.asyncDispose]: async () => {
      await listening.close(1_000)
      await worker?.stop()
      await core.close()
      place.remove()
    },
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

/** Waits until the look says so; fails loudly after 20 seconds. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error('it did not happen within 20 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
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
  readonly tookMs: number
}

export interface ExchangeOptions {
  /** Leave after so many answers. */
  readonly answers?: number
  readonly waitMs?: number
  /** Sent one by one, with this pause between them. */
  readonly pauseMs?: number
}

/** Sends exact bytes and reads what comes back, until the server closes or enough is there. */
export async function exchange(
  port: number,
  pieces: string | readonly string[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { answers = Infinity, waitMs = 3_000, pauseMs = 0 } = options
  const begin = performance.now()
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  let closed = false
  let over = () => {}
  const done = new Promise<void>((resolve) => {
    over = resolve
  })
  socket.on('data', (chunk) => {
    received.push(Buffer.from(chunk))
    if (readAnswers(Buffer.concat(received)).length >= answers) over()
  })
  socket.on('error', () => {})
  socket.on('end', () => {
    closed = true
    over()
  })
  socket.on('close', over)
  const timer = setTimeout(over, waitMs)
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (socket.writable) socket.write(piece, 'latin1')
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  await done
  clearTimeout(timer)
  socket.destroy()
  const tookMs = performance.now() - begin
  return { answers: readAnswers(Buffer.concat(received)), closed, tookMs }
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
