import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { PaymentDetails } from '../../src/wire/payment-details.ts'
import type { WebhookCall } from '../../src/events/webhook-call.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { newPayment, openBilling, idle, until, type TestBilling } from './billing.ts'
import { capturedLog } from './captured-log.ts'
import type { TestEngine } from './databases.ts'
import { echoing, statedCall, stating, type Statement } from './stating-gateway.ts'
import { paid } from './statements.ts'

/** A working billing that takes whatever a test states, and what to look at it with. */
export interface StatedBilling extends TestBilling {
  /** Everything that was logged. */
  readonly lines: readonly Record<string, unknown>[]
  create(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** A payment that is paid. */
  createPaid(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** One callback, processed; the call as it ended. */
  say(...statements: readonly Statement[]): Promise<WebhookCall>
  sayBy(gateway: string, ...statements: readonly Statement[]): Promise<WebhookCall>
  /** The callback is taken; not processed yet. */
  deliver(...statements: readonly Statement[]): Promise<void>
  details(payment: Pick<Payment, 'id'>): Promise<PaymentDetails>
  /** Status and amount of each refund, e.g. `paid 1000`; oldest first. */
  refunds(payment: Payment): Promise<readonly string[]>
  /** Types of the events about the payment, its refunds and its cards; oldest first. */
  events(payment: Payment): Promise<readonly string[]>
  /** The reason of each ignored outcome, the result of every other. */
  resultsOf(call: WebhookCall): readonly string[]
  /** Waits until the call has had so many attempts that failed. */
  attempted(call: { readonly id: string }, attempts: number): Promise<WebhookCall>
  /** Makes every next attempt due, and waits for the end. */
  retry(): Promise<void>
}

export interface StatedOptions extends BillingOptions {
  /** Registers listeners before the work begins. */
  readonly listen?: (billing: TestBilling) => void
}

export async function openStated(
  engine: TestEngine,
  options: StatedOptions = {},
): Promise<StatedBilling> {
  const { listen, ...billingOptions } = options
  const { log, lines } = capturedLog()
  const billing = await openBilling(engine, {
    extraGateways: [stating, echoing],
    listenerBudgetMs: 20_000,
    log,
    ...billingOptions,
  })
  const { core, database } = billing
  listen?.(billing)
  await core.work()

  const create: StatedBilling['create'] = (input = {}) =>
    newPayment(core, { gateway: 'stating', amount: 10_000, ...input })
  const sayBy: StatedBilling['sayBy'] = async (gateway, ...statements) => {
    assert.equal((await core.receive(statedCall(statements, gateway))).status, 200)
    await idle(core)
    const [call] = (await core.calls.list({ limit: 1 })).data
    assert.ok(call)
    return call
  }
  const say: StatedBilling['say'] = (...statements) => sayBy('stating', ...statements)
  const details: StatedBilling['details'] = async ({ id }) => {
    const found = await core.payments.get(id)
    assert.ok(found)
    return found
  }
  return {
    ...billing,
    lines,
    create,
    createPaid: async (input) => {
      const payment = await create(input)
      await say(paid(payment))
      return payment
    },
    say,
    sayBy,
    deliver: async (...statements) => {
      assert.equal((await core.receive(statedCall(statements))).status, 200)
    },
    details,
    refunds: async (payment) =>
      (await details(payment)).refunds.map(({ status, amount }) => `${status} ${amount}`),
    events: async (payment) => (await details(payment)).events.map(({ type }) => type),
    resultsOf: ({ outcome }) =>
      (outcome ?? []).map((one) => (one.result === 'ignored' ? one.reason : one.result)),
    attempted: async ({ id }, attempts) => {
      const call = async () => core.calls.get(id)
      await until(async () => (await call())?.attempts === attempts, {
        what: `attempt ${attempts} is recorded`,
      })
      const found = await call()
      assert.ok(found)
      return found
    },
    retry: async () => {
      await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
        where state = 'pending'`.execute(database.db)
      await idle(core)
    },
  }
}
