import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { newPayment, openBilling, idle } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import type { TestEngine } from '../support/databases.ts'
import { settingsOf, signing, type Callback } from './callbacks.ts'

/** What came of a callback: what a sender, a merchant and an operator see. */
export interface Result {
  readonly status: number
  /** Of the stored call: what became of each outcome, or why not; undefined where none is stored. */
  readonly outcome: readonly string[] | undefined
  readonly review: boolean
  readonly payment: string
  readonly events: readonly string[]
}

/** Refused: 403, nothing stored, the payment untouched. */
export const refused: Result = {
  status: 403,
  outcome: undefined,
  review: false,
  payment: 'pending',
  events: [],
}

/** Accepted and without effect: 200, stored with the reason, the payment untouched. */
export function ignoredAs(reason: string, review = false): Result {
  return { ...refused, status: 200, outcome: [reason], review }
}

/** Accepted: the payment is paid. */
export const settles: Result = {
  status: 200,
  outcome: ['applied payment:paid'],
  review: false,
  payment: 'paid',
  events: ['PaymentSucceeded'],
}

export type Service = Awaited<ReturnType<typeof openService>>

/** A whole billing with every gateway configured, and a worker. */
export async function openService(engine: TestEngine, options: BillingOptions = {}) {
  const { log, lines } = capturedLog()
  const gateways = { ...settingsOf(), ...options.gateways }
  const billing = await openBilling(engine, { ...options, gateways, log })
  const { core } = billing
  const secrets = signing.flatMap((gateway) => secretsOf(gateway, gateways[gateway.name] ?? {}))
  await core.work()

  async function receive(gateway: string, callback: Callback, query = '') {
    const from = lines.length
    const answer = await core.receive({
      gateway,
      target: `/billing/webhooks/${gateway}${query}`,
      headers: callback.headers,
      body: Buffer.from(callback.body),
    })
    if (answer.status === 200) await idle(core)
    const logged = JSON.stringify(lines.slice(from))
    for (const text of secrets) assert.ok(!`${logged}${answer.body}`.includes(text), 'a secret')
    return { answer, logged: lines.slice(from) }
  }

  /** Sends it to the gateway of the payment, unless to another one, and looks at what came of it. */
  async function send(payment: Payment, callback: Callback, gateway = payment.gateway) {
    const before = (await lastCall(core))?.id
    const { answer, logged } = await receive(gateway, callback)
    assertAnswer(answer, gateway)
    const call = await lastCall(core)
    const stored = call?.id === before ? undefined : call
    if (answer.status === 403) {
      const [line] = logged
      assert.deepEqual([logged.length, line?.['msg']], [1, 'callback refused'])
      assert.ok(JSON.stringify(line).length < 300)
    }
    const after = await core.payments.get(payment.id)
    return {
      status: answer.status,
      outcome: stored?.outcome?.map((one) =>
        one.result === 'ignored' ? one.reason : `${one.result} ${one.type}`,
      ),
      review: stored?.needsReview ?? false,
      payment: after?.status ?? 'none',
      events: after?.events.map(({ type }) => type) ?? [],
    } satisfies Result
  }

  return {
    ...billing,
    receive,
    send,
    logged: lines,
    pay: (gateway: string, fields: Partial<CreatePaymentInput> = {}) =>
      payAt(core, gateway, fields),
  }
}

async function lastCall(core: BillingCore) {
  return (await core.calls.list({ limit: 1 })).data[0]
}

function payAt(core: BillingCore, gateway: string, fields: Partial<CreatePaymentInput>) {
  const id = newUuid()
  // monobank settles only payments whose invoice is known.
  const invoice = gateway === 'monobank' ? { checkoutReference: `p2_${id}` } : {}
  return newPayment(core, { id, gateway, amount: 15_075, currency: 'UAH', ...invoice, ...fields })
}

function secretsOf({ credentials }: Gateway, settings: Readonly<Record<string, string>>) {
  return Object.entries(settings)
    .filter(([name]) => credentials[name]?.secret)
    .flatMap(([, value]) => value.split(','))
    .filter((text) => text.trim() !== '' && text !== 'undefined' && text !== 'null')
}

/** Constant texts; WayForPay alone gets its order's reference, signed. */
function assertAnswer({ status, body }: { status: number; body: string }, gateway: string): void {
  if (status === 200 && gateway === 'wayforpay') {
    assert.deepEqual(Object.keys(JSON.parse(body) as object), [
      'orderReference',
      'status',
      'time',
      'signature',
    ])
    return
  }
  assert.equal(body, JSON.stringify({ message: status === 200 ? 'ok' : 'forbidden' }))
}

/** Callbacks about a pending payment, each by what it is. */
export type Table = Readonly<Record<string, (payment: Payment) => Callback>>

/** Declares a test for each callback of the table: all of them end the same. */
export function declareTable(
  service: () => Service,
  [name, expected]: readonly [string, Result],
  table: Table,
): void {
  for (const [what, make] of Object.entries(table)) {
    test(`${name}: ${what} -> ${expected.status}, ${expected.payment}`, async () => {
      const payment = await service().pay(name)
      assert.deepEqual(await service().send(payment, make(payment)), expected)
    })
  }
}
