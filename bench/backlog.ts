import type pg from 'pg'
import { coreOf } from '../src/billing/create-core.ts'
import type { BillingCore } from '../src/billing/types.ts'
import type { BillingOptions } from '../src/billing/options.ts'
import { createRuntime } from '../src/billing/runtime.ts'
import { newUuid } from '../src/kernel/ids.ts'
import { amount, currency, signedCallback, signingSecret, webhookPath } from './requests.ts'

const concurrency = 64

export interface Backlog {
  readonly payments: readonly string[]
  /** Whether a callback about each has come already. */
  readonly callbacks: boolean
}

/**
 * Fills an empty database as production does: payments made through the library, and one signed
 * callback about each, taken in by the real intake. Nothing is processed yet.
 */
export async function fillBacklog(
  database: NonNullable<BillingOptions['database']>,
  { payments, callbacks }: Backlog,
): Promise<void> {
  const gateways = { stripe: { signing_secret: signingSecret } }
  const runtime = createRuntime({ database, gateways })
  await using core = coreOf(runtime)
  await core.migrate()
  await forEach(payments, (id) => createPayment(core, id))
  if (callbacks) await forEach(payments, (id) => receive(core, id))
  const { database: opened } = await runtime.opened()
  await addTables(opened.pool)
  if (opened.kind === 'postgres') await analyze(opened.pool)
}

export function newPayments(count: number): readonly string[] {
  return Array.from({ length: count }, newUuid)
}

/** What the measured listener writes to, and what a job of pgbench is about. */
async function addTables(pool: pg.Pool): Promise<void> {
  await pool.query('create table told (payment_id uuid)')
  await pool.query(`create table jobs as select id as call_id,
    (payload #>> '{data,object,metadata,payment_id}')::uuid as payment_id from billing.webhook_calls`)
  await pool.query('alter table jobs add primary key (call_id)')
}

/**
 * Only what has rows: PostgreSQL would plan for tables that stay empty, and check each foreign key
 * by reading all of them.
 */
async function analyze(pool: pg.Pool): Promise<void> {
  await pool.query('vacuum analyze billing.payments, billing.webhook_calls, jobs')
}

async function createPayment(core: BillingCore, id: string): Promise<void> {
  const payable = { type: 'order', id }
  const checkout = false
  await core.payments.create({ id, gateway: 'stripe', amount, currency, payable, checkout })
}

async function receive(core: BillingCore, paymentId: string): Promise<void> {
  const { headers, body } = signedCallback(paymentId, new Date())
  const { status } = await core.receive({
    gateway: 'stripe',
    target: webhookPath,
    headers,
    body: Buffer.from(body),
  })
  if (status !== 200) throw new Error(`a callback of the backlog was answered ${status}`)
}

async function forEach(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const rest = ids.values()
  const lane = async () => {
    for (const id of rest) await work(id)
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}
