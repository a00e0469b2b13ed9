import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { Database } from '../../src/database/connect.ts'
import type { WebhookCall } from '../../src/events/webhook-call.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
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

/**
 * A callback about a payment, which is made when it is sent; sent to the gateway of its payment,
 * unless to another one.
 */
export interface Sent {
  readonly payment: Payment
  readonly make: (payment: Payment) => Callback
  readonly gateway?: string
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
  const assertNoSecret = (text: string) => {
    for (const secret of secrets) assert.ok(!text.includes(secret), 'a secret')
  }

  async function receive(gateway: string, callback: Callback, query = '') {
    const from = lines.length
    const answer = await core.receive({
      gateway,
      target: `/billing/webhooks/${gateway}${query}`,
      headers: callback.headers,
      body: Buffer.from(callback.body),
    })
    const logged = lines.slice(from)
    assertNoSecret(`${JSON.stringify(logged)}${answer.body}`)
    return { answer, logged }
  }

  /**
   * Sends them one after the other, lets all be processed, and looks at what came of each: one
   * look for all of them, as looking costs more than a callback.
   */
  async function sendAll(sent: readonly Sent[]): Promise<readonly Result[]> {
    const from = lines.length
    const before = (await core.calls.list({ limit: 1 })).data[0]?.id ?? ''
    const statuses: number[] = []
    for (const { payment, make, gateway = payment.gateway } of sent) {
      const { answer, logged } = await receive(gateway, make(payment))
      assertAnswer(answer, gateway)
      if (answer.status === 403) assertRefusal(logged)
      statuses.push(answer.status)
    }
    await idle(core)
    assertNoSecret(JSON.stringify(lines.slice(from)))
    const stored = await callsAfter(core, before)
    const taken = statuses.filter((status) => status === 200).length
    assert.equal(stored.length, taken, 'what is taken is stored, and nothing else')
    const stands = await standing(billing.database, sent)
    let next = 0
    return sent.map(({ payment }, at) => {
      const status = statuses[at] ?? 0
      const call = status === 200 ? stored[next++] : undefined
      return { status, ...saidOf(call), ...stands(payment.id) }
    })
  }

  async function send(payment: Payment, callback: Callback, gateway = payment.gateway) {
    const [result] = await sendAll([{ payment, make: () => callback, gateway }])
    assert.ok(result)
    return result
  }

  return {
    ...billing,
    receive,
    send,
    sendAll,
    logged: lines,
    pay: (gateway: string, fields: Partial<CreatePaymentInput> = {}) =>
      payAt(core, gateway, fields),
  }
}

/** The calls that were stored after this one, oldest first: their ids are in that order. */
async function callsAfter(core: BillingCore, before: string): Promise<readonly WebhookCall[]> {
  const found: WebhookCall[] = []
  let cursor: string | undefined
  for (;;) {
    const page = await core.calls.list({ limit: 100, ...(cursor !== undefined && { cursor }) })
    const later = page.data.filter(({ id }) => id > before)
    found.push(...later)
    if (later.length < page.data.length || page.nextCursor === null) return found.toReversed()
    cursor = page.nextCursor
  }
}

function saidOf(call: WebhookCall | undefined): Pick<Result, 'outcome' | 'review'> {
  const outcome = call?.outcome?.map((one) =>
    one.result === 'ignored' ? one.reason : `${one.result} ${one.type}`,
  )
  return { outcome, review: call?.needsReview ?? false }
}

/** How the payments stand, and the types of their events. */
async function standing(
  { db }: Database,
  sent: readonly Sent[],
): Promise<(id: string) => Pick<Result, 'payment' | 'events'>> {
  const ids = [...new Set(sent.map(({ payment }) => payment.id))]
  const payments = await db
    .selectFrom('billing.payments')
    .select(['id', 'status'])
    .where('id', 'in', ids)
    .execute()
  const events = await db
    .selectFrom('billing.events')
    .select(['payment_id', 'type'])
    .where('payment_id', 'in', ids)
    .orderBy('id')
    .execute()
  const statuses = new Map(payments.map(({ id, status }) => [id, status]))
  const types = Map.groupBy(events, (event) => event.payment_id)
  return (id) => ({
    payment: statuses.get(id) ?? 'none',
    events: types.get(id)?.map(({ type }) => type) ?? [],
  })
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

/** One line, and a short one; what a worker says of calls that came before does not count. */
function assertRefusal(logged: readonly Readonly<Record<string, unknown>>[]): void {
  const own = logged.filter(({ call }) => call === undefined)
  const [line] = own
  assert.deepEqual([own.length, line?.['msg']], [1, 'callback refused'])
  assert.ok(JSON.stringify(line).length < 300)
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

/** A callback about a pending payment of 150.75 UAH, and what comes of it. */
export interface Case {
  readonly expected: Result
  readonly make: (payment: Payment) => Callback
  /** Of the payment, if it is another one. */
  readonly fields?: Partial<CreatePaymentInput>
}

/** Callbacks by what they are. */
export type Table = Readonly<Record<string, (payment: Payment) => Callback>>
export type Cases = Readonly<Record<string, Case>>

/** Declares one test for all of them, as each is about a payment of its own. */
export function declareCases(service: () => Service, [name, title]: Named, cases: Cases): void {
  const all = Object.entries(cases)
  const statuses = [...new Set(all.map(([, { expected }]) => expected.status))].toSorted(
    (a, b) => a - b,
  )
  test(`${name}: ${title} (${all.length}) -> ${statuses.join(' or ')}`, async () => {
    const sent: Sent[] = []
    for (const [, { make, fields }] of all) {
      const payment = await service().pay(name, fields)
      sent.push({ payment, make })
    }
    const results = await service().sendAll(sent)
    assert.deepEqual(
      Object.fromEntries(all.map(([what], at) => [what, results[at]])),
      Object.fromEntries(all.map(([what, { expected }]) => [what, expected])),
    )
  })
}

type Named = readonly [gateway: string, title: string]

/** The same, where all of them end the same. */
export function casesOf(expected: Result, table: Table): Cases {
  return Object.fromEntries(Object.entries(table).map(([what, make]) => [what, { expected, make }]))
}
