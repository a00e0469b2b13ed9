import assert from 'node:assert/strict'
import { sql, type Kysely } from 'kysely'
import { findSubscription } from '../../src/database/subscriptions.ts'
import { listPeriods } from '../../src/database/subscription-periods.ts'
import { toPayment } from '../../src/database/payments.ts'
import type { Tables } from '../../src/database/tables.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { ChargeRequest, ChargeReply } from '../../src/gateways/operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { days } from '../../src/kernel/duration.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import {
  createSubscription,
  type CreatedSubscription,
} from '../../src/money/create-subscription.ts'
import type { PaymentOutcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { NewSubscription, SubscriptionPolicy } from '../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import { pollReply, scriptedGateway, type Script } from '../money/scripted.ts'
import type { TestEngine } from '../support/databases.ts'
import { openStated, type StatedBilling, type StatedOptions } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'

/** What the provider would show of itself: each request for money, and what it took. */
export interface Till {
  /** Ids of the payments that it was asked to charge, in order. */
  readonly asked: string[]
  /** Ids of the payments by which it has taken money. */
  readonly debits: string[]
}

/** A working billing with a provider that charges saved cards, and a time of its own. */
export interface Subscribing {
  readonly billing: StatedBilling
  readonly script: Script
  readonly till: Till
  readonly context: MoneyContext
  /** The time that subscriptions live by; a day ahead of all else at first. */
  readonly clock: { now: Date }
  pass(length: number): void
  card(): Promise<string>
  /** A monthly subscription whose first period is to be paid on a page, unless the fields differ. */
  subscribe(fields?: Partial<NewSubscription>): Promise<CreatedSubscription>
  /** Does all that is due. */
  run(): Promise<number>
  state(of: { readonly id: string }): Promise<Subscription>
  /** Oldest first. */
  periods(of: { readonly id: string }): Promise<readonly SubscriptionPeriod[]>
  /** Of all its periods, oldest first. */
  payments(of: { readonly id: string }): Promise<readonly Payment[]>
  /** Types of its events, in the order in which they are dispatched. */
  events(of: { readonly id: string }): Promise<readonly string[]>
  reviews(): Promise<readonly string[]>
  /** The provider says that the payment is paid. */
  paidOutcome(payment: Payment): PaymentOutcome
}

export async function openSubscribing(
  engine: TestEngine,
  policy: Partial<SubscriptionPolicy> = {},
  options: StatedOptions = {},
): Promise<Subscribing> {
  const script: Script = {}
  const gateway: Gateway = { ...scriptedGateway(script), chargesPerMinute: 600_000 }
  const billing = await openStated(engine, {
    ...options,
    extraGateways: [stating, gateway],
    providerTimeoutMs: 30_000,
  })
  const clock = { now: new Date(Math.ceil(Date.now() / 1000) * 1000 + days(1)) }
  const entitled = await billing.runtime.entitledContext()
  const context: MoneyContext = {
    ...entitled,
    processing: {
      ...entitled.processing,
      subscriptionTime: async () => clock.now,
      subscriptionPolicy: { ...entitled.processing.subscriptionPolicy, ...policy },
    },
  }
  const till: Till = { asked: [], debits: [] }
  takesMoney(script, till)
  const { db } = billing.database
  return {
    billing,
    script,
    till,
    context,
    clock,
    pass(length) {
      clock.now = new Date(clock.now.getTime() + length)
    },
    card: async () => {
      const id = newUuid()
      await sql`insert into billing.payment_methods
        (id, gateway, status, provider_reference) values
        (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(db)
      return id
    },
    subscribe: (fields = {}) => createSubscription(newSubscription(fields), '{}', context),
    run: async () => (await runDueSubscriptions(context, { lanes: 4 })).steps,
    state: async ({ id }) => {
      const found = await findSubscription(db, id)
      assert.ok(found)
      return found
    },
    periods: async ({ id }) =>
      (await listPeriods(db, { subscriptionId: id, limit: 100 })).data.toReversed(),
    payments: (of) => paymentsOf(db, of),
    events: async ({ id }) => {
      const { rows } = await sql<{ type: string }>`
        select type from billing.deferred_events
        where subscription_id = ${id}::uuid
        order by event_number`.execute(db)
      return rows.map(({ type }) => type)
    },
    reviews: () => reviewReasons(db),
    paidOutcome,
  }
}

/** Of all periods of the subscription, oldest first. */
export async function paymentsOf(
  db: Kysely<Tables>,
  { id }: { readonly id: string },
): Promise<readonly Payment[]> {
  const rows = await db
    .selectFrom('billing.payments as payment')
    .innerJoin('billing.subscription_periods as period', 'period.id', 'payment.period_id')
    .where('period.subscription_id', '=', id)
    .selectAll('payment')
    .orderBy('period.number')
    .orderBy('payment.created_at')
    .orderBy('payment.id')
    .execute()
  return rows.map(toPayment)
}

export async function reviewReasons(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ reason: string }>`
    select reason from billing.reviews order by id`.execute(db)
  return rows.map(({ reason }) => reason)
}

export function newSubscription(fields: Partial<NewSubscription>): NewSubscription {
  return {
    id: newUuid(),
    managedBy: 'local',
    gateway: 'scripted',
    merchantAccount: null,
    live: null,
    plan: null,
    payable: { type: 'account', id: '42' },
    description: 'Gold',
    customer: null,
    metadata: null,
    amount: 4_999n,
    currency: 'USD',
    every: { unit: 'month', count: 1 },
    timeZone: 'UTC',
    paymentMethodId: null,
    graceAccess: true,
    trialEndsAt: null,
    paidUntil: null,
    ...fields,
  }
}

function paidOutcome({ id, amount, currency }: Payment): PaymentOutcome {
  return { type: 'payment', payment: { id }, status: 'paid', amount, currency }
}

/** Every charge is paid, and the provider knows nothing of what it was never asked for. */
export function takesMoney(script: Script, till: Till): void {
  script.open = async () => ({ url: 'https://provider.example/pay' })
  script.chargeSavedCard = async (request) => {
    till.asked.push(request.payment.id)
    till.debits.push(request.payment.id)
    return { outcomes: [paidOutcome(request.payment)] }
  }
  script.poll = async ({ payment }) =>
    till.debits.includes(payment.id)
      ? pollReply([paidOutcome(payment)], { standing: 'paid' })
      : pollReply([], { standing: 'absent' })
}

/** The next charges are answered like this; then the provider takes money again. */
export function answers(
  { script, till }: Pick<Subscribing, 'script' | 'till'>,
  ...replies: readonly ((request: ChargeRequest) => Promise<ChargeReply>)[]
): void {
  const waiting = [...replies]
  takesMoney(script, till)
  const charge = script.chargeSavedCard
  script.chargeSavedCard = async (request, operation) => {
    const reply = waiting.shift()
    if (reply === undefined) {
      assert.ok(charge)
      return charge(request, operation)
    }
    till.asked.push(request.payment.id)
    return reply(request)
  }
}

export const declined =
  (declineCode = 'no_money') =>
  async ({ payment: { id } }: ChargeRequest): Promise<ChargeReply> => ({
    outcomes: [{ type: 'payment', payment: { id }, status: 'failed', declineCode }],
  })

export const unanswered = async (): Promise<ChargeReply> => {
  throw new QuittanceError('provider_unreachable', 'the provider did not answer')
}
