import { coreOf } from '../src/billing/create-core.ts'
import type { BillingCore } from '../src/billing/types.ts'
import type { BillingOptions } from '../src/billing/options.ts'
import { createRuntime } from '../src/billing/runtime.ts'
import { newUuid } from '../src/kernel/ids.ts'
import { amount, currency, signedCallback, signingSecret, webhookPath } from './requests.ts'

const concurrency = 64

/**
 * Fills an empty database as production does: payments made through the library, and one signed
 * callback about each, taken in by the real intake. Nothing is processed yet.
 */
export async function fillBacklog(
  database: NonNullable<BillingOptions['database']>,
  count: number,
): Promise<void> {
  const gateways = { stripe: { signing_secret: signingSecret } }
  const runtime = createRuntime({ database, gateways })
  await using core = coreOf(runtime)
  await core.migrate()
  const ids = Array.from({ length: count }, newUuid)
  await forEach(ids, (id) => createPayment(core, id))
  await forEach(ids, (id) => receive(core, id))
  const { pool } = (await runtime.opened()).database
  // The listener that is measured writes here.
  await pool.query('create table told (payment_id uuid)')
  await pool.query('vacuum analyze')
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
