import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { PaymentDetails } from '../../src/wire/payment-details.ts'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { openBilling, idle, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import type { TestEngine } from '../support/databases.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { untilSilent } from '../providers/until-silent.ts'

/** A working billing and the provider that it talks to. */
export interface MoneyBilling extends TestBilling {
  readonly provider: ProviderStandIn
  readonly lines: readonly Record<string, unknown>[]
  create(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** A payment whose payer has opened its checkout, as far as the provider learns of that. */
  createOpened(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** A payment that is paid, and known to be. */
  createPaid(input?: Partial<CreatePaymentInput>): Promise<Payment>
  /** One callback, processed. */
  deliver(callback: SignedCallback): Promise<void>
  /** The same, only taken. */
  receive(callback: SignedCallback): Promise<void>
  details(payment: Pick<Payment, 'id'>): Promise<PaymentDetails>
  /** Types of the events about the payment and its refunds, not its documents; oldest first. */
  events(payment: Pick<Payment, 'id'>): Promise<readonly string[]>
  /** Lets so much time pass for the payment and its refunds: they are that much older, and due. */
  pass(payment: Pick<Payment, 'id'>, hours: number): Promise<void>
}

/** Providers are asked at the same time. */
export const concurrently = { concurrency: 3 }

export async function openMoney(
  engine: TestEngine,
  provider: ProviderStandIn,
  options: BillingOptions = {},
): Promise<MoneyBilling> {
  const { log, lines } = capturedLog()
  const silence = untilSilent(provider)
  const billing = await openBilling(engine, {
    url: 'https://pay.example.test',
    gateways: { [provider.gateway.name]: provider.config },
    billing: { encryptionKey: randomBytes(32).toString('base64') },
    providerTimeoutMs: silence.limitMs,
    log,
    ...options,
  })
  const { core, database } = billing
  await core.work()
  const { name } = provider.gateway

  const close = async () => {
    await billing.close()
    silence[Symbol.dispose]()
  }
  const create: MoneyBilling['create'] = (input = {}) =>
    core.payments.create({
      gateway: name,
      amount: 15_075,
      currency: 'UAH',
      payable: { type: 'order', id: '42' },
      customer: { email: 'payer@example.test' },
      ...input,
    })
  const createOpened: MoneyBilling['createOpened'] = async (input) => {
    const payment = await create(input)
    await postForm(billing, payment)
    return payment
  }
  const receive: MoneyBilling['receive'] = async ({ headers, body }) => {
    const target = `/billing/webhooks/${name}`
    const answer = await core.receive({ gateway: name, target, headers, body: Buffer.from(body) })
    assert.equal(answer.status, 200, answer.body)
  }
  const deliver: MoneyBilling['deliver'] = async (callback) => {
    await receive(callback)
    await idle(core)
  }
  const details: MoneyBilling['details'] = async ({ id }) => {
    const found = await core.payments.get(id)
    assert.ok(found)
    return found
  }
  return {
    ...billing,
    close,
    [Symbol.asyncDispose]: close,
    provider,
    lines,
    create,
    createOpened,
    createPaid: async (input) => {
      const payment = await createOpened(input)
      provider.pay(payment.id)
      await deliver(provider.paymentCallback(payment.id))
      const found = await details(payment)
      assert.equal(found.status, 'paid')
      return found
    },
    deliver,
    receive,
    details,
    events: async (payment) =>
      (await details(payment)).events
        .map(({ type }) => type)
        .filter((type) => !/^(?:PaymentMethod|Invoice)/.test(type)),
    pass: async ({ id }, hours) => {
      await sql`
        update billing.payments set
          created_at = created_at - make_interval(hours => ${hours}::int),
          handed_at = handed_at - make_interval(hours => ${hours}::int),
          expires_at = expires_at - make_interval(hours => ${hours}::int),
          next_poll_at = case when next_poll_at is not null then clock_timestamp() end
        where id = ${id} or parent_id = ${id}`.execute(database.db)
    },
  }
}

/** Where the payer's browser posts a form to get to the checkout, the provider learns of it then. */
export async function postForm({ core }: TestBilling, payment: Payment): Promise<void> {
  const form = core.payments.checkoutForm(payment)
  if (form === undefined) return
  const body = new URLSearchParams(form.fields)
  const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' })
  await answer.arrayBuffer()
  assert.ok(answer.status < 400, `the form was answered ${answer.status}`)
}
