import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import type { CallDetails, WebhookCall } from '../../src/events/webhook-call.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { Answer } from '../../src/intake/responses.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { createRuntime, type Runtime, type Stage } from '../../src/billing/runtime.ts'
import { openTestBilling, type TestBilling as RecordedBilling } from '../../src/testing/index.ts'
import { postgres, type TestEngine } from './databases.ts'
import { migratedFolder } from './embedded-template.ts'
import { muchPatience } from './patience.ts'
import { inTestSchema, testSchema } from './test-schema.ts'
import { until } from './until.ts'

export { until }

/** A billing on a database of its own, and the database itself to look into. */
export interface TestBilling {
  readonly core: BillingCore
  readonly database: Database
  readonly runtime: Runtime
  /** Only on PostgreSQL: for further processes. */
  readonly url: string | undefined
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What a slow machine does not reach; a test of a limit has its own. */
export const unhurried: Stage = { patience: muchPatience }

export async function openBilling(
  engine: TestEngine,
  options: BillingOptions = {},
  stage: Stage = unhurried,
): Promise<TestBilling> {
  const { database, remove } = await freshDatabase(engine)
  const runtime = createRuntime({ listenerBudgetMs: 20_000, ...options, database }, stage)
  const core = coreOf(runtime)
  await core.migrate()
  const open = await runtime.opened()
  const close = async () => {
    await core.close()
    await remove()
  }
  return {
    core,
    database: inTestSchema(open.database),
    runtime,
    url: 'url' in database ? database.url : undefined,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What merchants test with, on a database of its own. */
export async function openRecorded(
  engine: TestEngine,
  options: BillingOptions = {},
): Promise<RecordedBilling> {
  const { database, remove } = await freshDatabase(engine)
  const opened = await openTestBilling({ ...options, database })
  const close = async () => {
    await opened.close()
    await remove()
  }
  return { ...opened, close, [Symbol.asyncDispose]: close }
}

interface FreshDatabase {
  readonly database:
    | { readonly url: string; readonly poolSize: number; readonly schema: string }
    | { readonly dataDir: string; readonly schema: string }
  remove(): Promise<void>
}

/** Enough for any race; each connection costs the server as much as a small test. */
const poolSize = 5

async function freshDatabase(engine: TestEngine): Promise<FreshDatabase> {
  if (engine.name === postgres.name) {
    const { url = '', drop } = await engine.create()
    return { database: { url, poolSize, schema: testSchema }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  return { database: { dataDir, schema: testSchema }, remove: async () => remove() }
}

export function newPayment(
  core: BillingCore,
  input: Partial<CreatePaymentInput> = {},
): Promise<Payment> {
  return core.payments.create({
    gateway: 'fake',
    amount: 4999,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
    // Most tests are about callbacks; only the fake gateway has its checkout here.
    ...(input.gateway !== undefined && input.gateway !== 'fake' && { checkout: false }),
    ...input,
  })
}

export function sendFake(
  core: BillingCore,
  paymentId: string,
  result: 'success' | 'failure',
): Promise<Answer> {
  return sendJson(core, 'fake', { payment_id: paymentId, result })
}

export function sendJson(core: BillingCore, gateway: string, body: unknown): Promise<Answer> {
  return core.receive({
    gateway,
    target: `/billing/webhooks/${gateway}`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  })
}

/** Waits until no call is pending or in work; bounded. */
export async function idle(core: BillingCore): Promise<void> {
  await until(
    async () => {
      // Again and again: a call may go back between two looks, and be taken again.
      for (const state of ['pending', 'processing', 'pending', 'processing', 'pending'] as const) {
        if ((await core.calls.list({ state, limit: 1 })).data.length > 0) return false
      }
      return true
    },
    { what: 'all calls are finished', limitMs: 600_000 },
  )
}

/** Those that a list has, each with what was received. */
export async function receivedCalls(
  { calls }: Pick<BillingCore, 'calls'>,
  query: Parameters<BillingCore['calls']['list']>[0] = {},
): Promise<readonly CallDetails[]> {
  const { data } = await calls.list(query)
  const found: CallDetails[] = []
  for (const { id } of data) {
    const call = await calls.get(id)
    if (call !== undefined) found.push(call)
  }
  return found
}

/** The calls, oldest first. */
export async function allCalls(core: BillingCore): Promise<readonly WebhookCall[]> {
  const { data } = await core.calls.list({ limit: 100 })
  return data.toReversed()
}
