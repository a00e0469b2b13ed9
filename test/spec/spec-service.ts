import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Database } from '../../src/database/connect.ts'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { postgres, type TestEngine } from '../support/databases.ts'
import { apiToken } from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { until } from '../support/billing.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import { sessionEvent, signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export interface PaymentView {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly currency: string
  readonly transitions: readonly { readonly from: string; readonly to: string }[]
  readonly events: readonly {
    readonly type: string
    readonly dedup_key: string
    /** Null until it is in the feed. */
    readonly position: number | null
  }[]
}

export interface CallView {
  readonly id: string
  readonly gateway: string
  readonly queue: string
  readonly url: string
  readonly state: string
  readonly attempts: number
  readonly outcome: readonly { readonly result: string; readonly reason?: string }[] | null
  readonly needs_review: boolean
  readonly payment_id: string | null
  readonly dedup_claims: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly payload: unknown
  readonly exception: string | null
}

export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

/** The service as the specification's reader meets it: configured by a file, spoken to over HTTP alone. */
export interface SpecService extends AsyncDisposable {
  readonly running: LocalService
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  send(method: string, path: string, init?: Omit<RequestInit, 'method'>): Promise<Reply>
  /** Posts a callback to the default path of the gateway. */
  post(gateway: string, body: string | Uint8Array, headers?: RequestInit['headers']): Promise<Reply>
  fake(paymentId: string, result: 'success' | 'failure'): Promise<Reply>
  /** Posts a Checkout Session event about the payment, signed by Stripe's own package. */
  stripe(
    payment: PaymentView,
    change?: Omit<Parameters<typeof sessionEvent>[0], 'payment'>,
  ): Promise<Reply>
  create(input?: Readonly<Record<string, unknown>>): Promise<PaymentView>
  payment(id: string): Promise<PaymentView>
  /** How many calls are stored, up to 100. */
  countCalls(): Promise<number>
  /** The newest call once it is finished. */
  lastCall(): Promise<CallView>
  /** The same database, to look into and to turn clocks; the caller closes it. */
  connect(): Promise<Database>
  /** Lines that the service logged, parsed. */
  logged(): readonly Readonly<Record<string, unknown>>[]
}

export interface SpecOptions {
  /** Text of its quittance.config.js. */
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly '--no-worker'[]
}

/** For `await using`. */
export async function closing<T extends { close(): Promise<void> }>(
  opened: Promise<T>,
): Promise<T & AsyncDisposable> {
  const one = await opened
  return { ...one, [Symbol.asyncDispose]: () => one.close() }
}

export const ok = { message: 'ok' }

export async function startSpec(
  engine: TestEngine,
  { config, env: more = {}, args = [] }: SpecOptions = {},
): Promise<SpecService> {
  const folder = temporaryFolder()
  const cwd = folder.path
  const created = engine === postgres ? await postgres.create() : undefined
  if (created === undefined) fillDataFolder(join(cwd, '.quittance'))
  if (config !== undefined) writeFileSync(join(cwd, 'quittance.config.js'), config)
  const env = {
    BILLING_API_TOKEN: apiToken,
    STRIPE_SIGNING_SECRET: signingSecret,
    ...(created?.url === undefined ? {} : { DATABASE_URL: created.url }),
    ...more,
  }
  const service = await startLocalService({ cwd, env, args })
  return {
    ...speak(service),
    running: service,
    cwd,
    env,
    connect: async () => {
      const embedded = async () =>
        ({ kind: 'embedded', ...(await findEmbedded(join(cwd, '.quittance'))) }) as const
      const target = created?.target ?? (await embedded())
      return connect({ target, log: silentLog, poolSize: 1, applicationName: 'quittance spec' })
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop()
      await created?.drop()
      folder[Symbol.dispose]()
    },
  }
}

type Spoken = Omit<SpecService, 'running' | 'cwd' | 'env' | 'connect' | typeof Symbol.asyncDispose>

function speak(service: LocalService): Spoken {
  const send: Spoken['send'] = async (method, path, init = {}) => {
    const answer = await fetch(service.url + path, { ...init, method })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: readJson(text) }
  }
  const api = async (path: string, body?: unknown) => {
    const reply = await send(body === undefined ? 'GET' : 'POST', `/billing/api${path}`, {
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.ok(reply.status < 300, `${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const calls = async () => {
    const page = (await api('/webhook-calls?limit=100')) as { readonly data: readonly CallView[] }
    return page.data
  }
  const post: Spoken['post'] = (gateway, body, headers = {}) =>
    send('POST', `/billing/webhooks/${gateway}`, { body: Buffer.from(body), headers })
  return {
    send,
    post,
    fake: (paymentId, result) =>
      post('fake', JSON.stringify({ payment_id: paymentId, result }), {
        'content-type': 'application/json',
      }),
    stripe: (payment, change = {}) => {
      const body = JSON.stringify(
        sessionEvent({ ...change, payment: { ...payment, amount: BigInt(payment.amount) } }),
      )
      return post('stripe', body, signedHeaders(body))
    },
    create: async (input = {}) => {
      const body = { gateway: 'fake', amount: 4999, currency: 'USD', ...input }
      const payable = { type: 'order', id: randomUUID() }
      // Callbacks are what is tried here; only the fake gateway has its checkout with us.
      const checkout = body.gateway === 'fake'
      return (await api('/payments', { payable, checkout, ...body })) as PaymentView
    },
    payment: async (id) => (await api(`/payments/${id}`)) as PaymentView,
    countCalls: async () => (await calls()).length,
    lastCall: async () => {
      const unfinished = new Set(['pending', 'processing'])
      await until(async () => !unfinished.has((await calls())[0]?.state ?? ''), {
        what: 'the newest call is finished',
      })
      return (await api(`/webhook-calls/${(await calls())[0]?.id}`)) as CallView
    },
    logged: () =>
      service.stderr.flatMap((line) => {
        const value = readJson(line)
        return isObject(value) ? [value] : []
      }),
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
