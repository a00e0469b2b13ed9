import { type Kysely, sql } from 'kysely'
import type { ListenedToByName, WithListeners } from '../billing/listeners-option.ts'
import type { BillingOptions } from '../billing/options.ts'
import { type Runtime, createRuntime } from '../billing/runtime.ts'
import type { CreatePaymentInput } from '../checkout/payment-input.ts'
import { type Billing, billingOf } from '../create-billing.ts'
import { muchPatience } from '../database/patience.ts'
import type { Tables } from '../database/tables.ts'
import { newUuid } from '../kernel/ids.ts'
import { makeOnce } from '../kernel/make-once.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { type IdleOptions, countEvents, untilIdle } from './idle.ts'
import { type EventRecorder, type RecordedEvents, recordEvents } from './record-events.ts'
import { type CallbackStatement, requestOf } from './signed-request.ts'
import { withTestCredentials } from './test-credentials.ts'

/** A whole billing for one test. Callbacks are processed from the first use on, not before. */
export interface TestBilling extends AsyncDisposable {
  /** The real one: pass it to your app. Register listeners before the first callback. */
  readonly billing: Billing
  /** Every event that was dispatched. */
  readonly events: EventRecorder
  /** Creates a payment: 49.99 USD for order 42 at a gateway that needs no signature, by default. */
  createPayment(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** A callback of this gateway (name or alias) to deliver here or to your app. */
  signedRequest(gateway: string, statement: CallbackStatement): Request
  /**
   * Puts a callback through the real route. The request stays fresh: deliver it again for a
   * duplicate.
   */
  deliver(request: Request): Promise<Response>
  /** All at the same time; `Array(20).fill(request)` for duplicates. Answers in the same order. */
  deliverAtOnce(requests: readonly Request[]): Promise<readonly Response[]>
  /** Signs and delivers in one step, at the payment's own gateway. */
  send(payment: Payment, scenario?: string): Promise<Response>
  /**
   * Waits until every callback and every queued listener is done and its events are recorded.
   * Fails after `withinMs`, with what still waits and why.
   */
  idle(options?: IdleOptions): Promise<void>
  /**
   * Empties it for the next test, in milliseconds: waits for what is under way, then forgets all
   * payments, calls, events, subscriptions and documents. Listeners and options stay; tables of your
   * own are yours to empty. A database that is kept must have a word that begins with `test` in its
   * name, or in the path of its folder: `shop_test`.
   */
  reset(): Promise<void>
  /** Ends everything and forgets the database. `await using` calls it for you. */
  close(): Promise<void>
}

/**
 * Opens a billing that needs no set-up: a database in memory, a test secret for every gateway. The
 * options win, `database` included. Several may be open at once. The first one of a process takes
 * some seconds, the next ones less than one: PostgreSQL's files are made once.
 */
export function openTestBilling<const On extends ListenedToByName>(
  options?: WithListeners<BillingOptions, On>,
): Promise<TestBilling>
export async function openTestBilling(options: BillingOptions = {}): Promise<TestBilling> {
  const given = withTestCredentials({
    production: false,
    ...options,
    database: options.database ?? { memory: true },
  })
  const runtime = createRuntime(given, { patience: muchPatience })
  const billing = billingOf(runtime)
  const recording = recordEvents(billing)
  try {
    await billing.migrate()
    const { db } = (await runtime.opened()).database
    const earlier = await countEvents(db)
    return testBillingOf({ runtime, billing, recording, db, earlier })
  } catch (error) {
    await billing.close()
    throw error
  }
}

interface Opened {
  readonly runtime: Runtime
  readonly billing: Billing
  readonly recording: RecordedEvents
  readonly db: Kysely<Tables>
  /** How many events the database had before. */
  readonly earlier: number
}

function testBillingOf(opened: Opened): TestBilling {
  const { runtime, billing, recording, db } = opened
  let { earlier } = opened
  // Not at once: listeners may be registered until then.
  const worker = makeOnce(() => billing.work())
  const signedRequest: TestBilling['signedRequest'] = (gateway, statement) =>
    requestOf(runtime.settings, gateway, statement)
  const deliver = async (request: Request) => {
    await worker.get()
    return billing.fetch(await copyOf(request))
  }
  const { stop, clear, ...events } = recording
  const waitFor: EventRecorder['waitFor'] = (type, options) => {
    const found = worker.get().then(() => events.waitFor(type, options))
    // A test that failed meanwhile no longer looks at it.
    found.catch(() => {})
    return found
  }
  const idle: TestBilling['idle'] = async (options = {}) => {
    const recorded = (count: number) => events.all.length >= count - earlier
    await untilIdle({ db, worker: await worker.get(), recorded }, options)
  }
  const reset = async () => {
    // What has failed until now would be tried again.
    if (worker.begun) await idle({ retries: 'leave' })
    await billing.subscriptions.release()
    await retryPassing(() => emptyDatabase(db, runtime.settings.database), Math.random)
    earlier = 0
    clear()
  }
  const close = async () => {
    stop('the billing was closed')
    await billing.close()
  }
  return {
    billing,
    events: { ...events, waitFor },
    createPayment: (input = {}) => billing.payments.create(completed(runtime, input)),
    signedRequest,
    deliver,
    deliverAtOnce: (requests) => Promise.all(requests.map((request) => deliver(request))),
    send: (payment, scenario) =>
      deliver(
        signedRequest(payment.gateway, { payment, ...(scenario !== undefined && { scenario }) }),
      ),
    idle,
    reset,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Fills in whatever a test does not care about, so that its callbacks find what they must. */
function completed({ settings }: Runtime, input: Partial<CreatePaymentInput>): CreatePaymentInput {
  const gateways = settings.gateways.list().map(({ gateway }) => gateway)
  const unsigned = gateways.find(({ verification }) => verification === 'none') ?? gateways[0]
  const { id = newUuid(), gateway = unsigned?.name ?? '' } = input
  const { checkout, signer } = settings.gateways.find(gateway)?.gateway ?? {}
  const { checkoutReferenceOf } = signer ?? {}
  return {
    amount: 4999n,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
    // No provider is asked for anything.
    ...(checkout?.kind === 'api' && { checkout: false }),
    ...(checkoutReferenceOf && { checkoutReference: checkoutReferenceOf(id) }),
    ...input,
    id,
    gateway,
  }
}

const bodies = new WeakMap<Request, Promise<ArrayBuffer>>()

/** Reads the body once, so that a request can be delivered any number of times, also at once. */
async function copyOf(request: Request): Promise<Request> {
  const body = bodies.get(request) ?? request.clone().arrayBuffer()
  bodies.set(request, body)
  const { url, method, headers } = request
  const bytes = await body
  // A GET must have no body, not even an empty one.
  return new Request(url, { method, headers, ...(bytes.byteLength > 0 && { body: bytes }) })
}

/** What a process that works has written at its start, and does not write again. */
const kept: readonly string[] = [
  'commit_guards',
  'endpoints',
  'feeds',
  'installation',
  'listeners',
  'migrations',
  'schedules',
  'workers',
]

/** Which database is emptied, as the options have it. */
export interface EmptiedDatabase {
  readonly url?: string | undefined
  readonly memory: boolean
  readonly dataDir: string
}

/** Not in the middle of a word: `latest` and `contest` name real ones. */
const ofTests = /(?<![a-z])test/i

/** Empties a database between two tests; one that is kept, only if it is named as one of tests. */
export async function emptyDatabase(
  db: Kysely<Tables>,
  { url, memory, dataDir }: EmptiedDatabase,
): Promise<void> {
  const { rows } = await sql<{ name: string; tables: string }>`
    select current_database() as name, string_agg(format('billing.%I', relname), ', ') as tables
    from pg_class where relnamespace = 'billing'::regnamespace and relkind = 'r'
      and relname <> all(${[...kept]})`.execute(db)
  const [found] = rows
  if (found === undefined) return
  const isKept = url !== undefined || !memory
  const name = url === undefined ? dataDir : found.name
  if (isKept && !ofTests.test(name)) {
    throw new Error(`reset() empties no database without a word that begins with "test": ${name}`)
  }
  await sql`truncate ${sql.raw(found.tables)}`.execute(db)
  await sql`delete from billing.endpoints where source = 'api'`.execute(db)
}
