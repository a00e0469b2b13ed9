import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { findSubscription } from '../../src/database/subscriptions.ts'
import { listPeriods } from '../../src/database/subscription-periods.ts'
import { toPayment } from '../../src/database/payments.ts'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import { eventTypes } from '../../src/events/catalogue.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { SubscriptionReply } from '../../src/gateways/subscription-operations.ts'
import { days } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import type { Outcome, PaymentOutcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { applyReport } from '../../src/processing/apply-report.ts'
import type { SubscriptionPolicy } from '../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'
import { runDueSyncs } from '../../src/upkeep/run-syncs.ts'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { idle } from '../support/billing.ts'
import type { TestEngine } from '../support/databases.ts'
import { openStated, type StatedBilling, type StatedOptions } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import { until } from '../support/until.ts'

/** A gateway whose provider manages subscriptions, and says of them what the script says. */
export function managingGateway(script: Script): Gateway {
  return {
    ...scriptedGateway(script),
    name: 'managing',
    title: 'Managing gateway',
    subscriptions: { read: async (...asked) => script.read?.(...asked) },
  }
}

/** The provider's side of subscriptions: a test changes it as it goes. */
export interface ManagingProvider {
  /** How each stands, by its reference. */
  readonly stated: Map<string, SubscriptionStatement>
  /** What it lists of each as charged of late. */
  readonly charged: Map<string, readonly Outcome[]>
  /** References that were asked for, in order. */
  readonly asked: string[]
}

/** A billing with such a provider. Its workers do not sync: `run` does, by a time of its own. */
export interface Managing {
  readonly billing: StatedBilling
  readonly script: Script
  readonly provider: ManagingProvider
  readonly context: MoneyContext
  readonly clock: { now: Date }
  readonly heard: BillingEvent[]
  pass(length: number): void
  create(fields?: Partial<Parameters<StatedBilling['create']>[0]>): Promise<Payment>
  /** Callbacks with these outcomes, as one. Reasons of what was ignored, results of the others. */
  say(...outcomes: readonly Outcome[]): Promise<readonly string[]>
  /** Does all that is due of syncs. */
  run(): Promise<number>
  /** The one with this reference, if there is one. */
  find(reference: string): Promise<Subscription | undefined>
  state(reference: string): Promise<Subscription>
  periods(reference: string): Promise<readonly SubscriptionPeriod[]>
  events(reference: string): Promise<readonly string[]>
  reviews(): Promise<readonly string[]>
  payment(providerReference: string): Promise<Payment>
  /** Nothing is left of what was done before, neither here nor at the provider. */
  reset(): Promise<void>
}

export interface ManagingOptions extends StatedOptions {
  readonly policy?: Partial<SubscriptionPolicy>
  readonly gateway?: Partial<Gateway>
}

export async function openManaging(
  engine: TestEngine,
  { policy = {}, gateway = {}, ...options }: ManagingOptions = {},
): Promise<Managing> {
  const script: Script = {}
  const provider: ManagingProvider = { stated: new Map(), charged: new Map(), asked: [] }
  script.open = async () => ({ url: 'https://provider.example/pay' })
  const read: Script['read'] = async ({ reference }) => {
    provider.asked.push(reference)
    return replyOf(provider, reference)
  }
  script.read = read
  const heard: BillingEvent[] = []
  const billing = await openStated(engine, {
    extraGateways: [stating, { ...managingGateway(script), pollsPerMinute: 600_000, ...gateway }],
    providerTimeoutMs: 30_000,
    listen: ({ core }) => {
      core.on(eventTypes, 'hear', (event) => {
        heard.push(event)
      })
    },
    ...options,
  })
  const { db } = billing.database
  // Ahead, so that the workers of this process find nothing due; and on the tenth, as months from
  // then and from a few days later are equally long, whatever the day is today.
  const ahead = () => {
    const time = new Date(Math.ceil(Date.now() / 1000) * 1000 + days(1))
    if (time.getUTCDate() > 10) time.setUTCMonth(time.getUTCMonth() + 1, 10)
    time.setUTCDate(10)
    return time
  }
  const clock = { now: ahead() }
  const entitled = await billing.runtime.entitledContext()
  const context: MoneyContext = {
    ...entitled,
    processing: {
      ...entitled.processing,
      subscriptionTime: async () => clock.now,
      subscriptionPolicy: { ...entitled.processing.subscriptionPolicy, ...policy },
    },
  }
  const find: Managing['find'] = async (reference) => {
    const { rows } = await sql<{ id: string }>`
      select id from billing.subscriptions where provider_reference = ${reference}`.execute(db)
    return rows[0] && findSubscription(db, rows[0].id)
  }
  const state: Managing['state'] = async (reference) => {
    const found = await find(reference)
    assert.ok(found, `there is a subscription ${reference}`)
    return found
  }
  return {
    billing,
    script,
    provider,
    context,
    clock,
    heard,
    pass(length) {
      clock.now = new Date(clock.now.getTime() + length)
    },
    create: (fields = {}) =>
      billing.create({ gateway: 'managing', amount: 4_999, currency: 'USD', ...fields }),
    say: async (...outcomes) => {
      const report = { gateway: 'managing', outcomes, cause: 'poll', queue: 'default' } as const
      const applied = await applyReport(report, context.processing)
      return applied.map((one) => {
        if (one.kind === 'claim') return one.detail ?? one.type
        return one.result.result === 'ignored' ? one.result.reason : one.result.result
      })
    },
    run: async () => (await runDueSyncs(context)).steps,
    find,
    state,
    periods: async (reference) => {
      const { id } = await state(reference)
      return (await listPeriods(db, { subscriptionId: id, limit: 100 })).data.toReversed()
    },
    events: async (reference) => {
      const { id } = await state(reference)
      const { rows } = await sql<{ type: string }>`
        select type from billing.deferred_events
        where subscription_id = ${id}::uuid
        order by event_number`.execute(db)
      return rows.map(({ type }) => type)
    },
    reviews: async () => {
      const { rows } = await sql<{ reason: string }>`
        select reason from billing.reviews order by id`.execute(db)
      return rows.map(({ reason }) => reason)
    },
    payment: async (providerReference) => {
      const row = await db
        .selectFrom('billing.payments')
        .selectAll()
        .where('provider_reference', '=', providerReference)
        .executeTakeFirstOrThrow()
      return toPayment(row)
    },
    reset: async () => {
      await forgetAll(billing)
      script.read = read
      clock.now = ahead()
      provider.stated.clear()
      provider.charged.clear()
      for (const list of [provider.asked, heard]) list.length = 0
    },
  }
}

/** Deletes what a life leaves, once the workers have told of it. */
async function forgetAll({ core, database }: StatedBilling): Promise<void> {
  await idle(core)
  const isTold = async () => {
    const { rows } = await sql`select from billing.deferred_events
      where state in ('pending', 'processing') limit 1`.execute(database.db)
    return rows.length === 0
  }
  await until(isTold, { what: 'all events are told' })
  await database.transaction(async ({ db }) => {
    await sql`set local session_replication_role = replica`.execute(db)
    for (const name of ofLives) await sql`delete from ${sql.table(`billing.${name}`)}`.execute(db)
  })
}

const ofLives = [
  'subscriptions',
  'subscription_periods',
  'subscription_transitions',
  'payments',
  'payment_transitions',
  'payment_keys',
  'payment_activity',
  'webhook_calls',
  'events',
  'deferred_events',
  'reviews',
  'review_calls',
  'invoices',
  'usage_counters',
  'usage_keys',
]

function replyOf(
  { stated, charged }: ManagingProvider,
  reference: string,
): SubscriptionReply | undefined {
  const statement = stated.get(reference)
  return statement && { statement, outcomes: charged.get(reference) ?? [] }
}

/** A month from a time on. */
export function monthFrom(startsAt: Date): { readonly startsAt: Date; readonly endsAt: Date } {
  const endsAt = new Date(startsAt)
  endsAt.setUTCMonth(endsAt.getUTCMonth() + 1)
  return { startsAt, endsAt }
}

/** An active monthly one of 4999 USD, in the period that begins then. */
export function statementOf(
  reference: string,
  startsAt: Date,
  fields: Partial<SubscriptionStatement> = {},
): SubscriptionStatement {
  return {
    reference,
    status: 'active',
    amount: 4_999n,
    currency: 'USD',
    every: { unit: 'month', count: 1 },
    currentPeriod: monthFrom(startsAt),
    trialEndsAt: null,
    cancelAt: null,
    pauseAt: null,
    resumeAt: null,
    endedAt: null,
    failure: null,
    ...fields,
  }
}

/** The first charge of a subscription. */
export function begins(
  { id, amount, currency }: Payment,
  subscriptionReference: string,
  fields: Partial<PaymentOutcome> = {},
): PaymentOutcome {
  return {
    type: 'payment',
    payment: { id },
    status: 'paid',
    amount,
    currency,
    providerReference: `ch_${newUuid()}`,
    subscriptionReference,
    ...fields,
  }
}

/** A further charge of it, as the provider names it. */
export function renews(
  subscriptionReference: string,
  providerReference: string,
  fields: Partial<PaymentOutcome> = {},
): PaymentOutcome {
  return {
    type: 'payment',
    payment: { providerReference },
    providerReference,
    renews: 'subscription',
    status: 'paid',
    amount: 4_999n,
    currency: 'USD',
    subscriptionReference,
    ...fields,
  }
}

/** It has changed. */
export function changed(reference: string, payment?: Pick<Payment, 'id'>): Outcome {
  return {
    type: 'subscription',
    reference,
    ...(payment && { payment: { id: payment.id } }),
  }
}

/** One that is paid for its first month, which begins now. */
export async function begun(at: Managing, reference: string): Promise<Payment> {
  const payment = await at.create()
  at.provider.stated.set(reference, statementOf(reference, at.clock.now))
  const period = monthFrom(at.clock.now)
  const first = begins(payment, reference, { period })
  at.provider.charged.set(reference, [first])
  await at.say(first, changed(reference, payment))
  await at.run()
  return payment
}

/** Waits for so many events of this type; the last of them. */
export async function told<T extends BillingEvent['type']>(
  { heard }: Managing,
  type: T,
  times = 1,
): Promise<BillingEvent & { readonly type: T }> {
  const ofType = () =>
    heard.filter((event): event is BillingEvent & { readonly type: T } => event.type === type)
  await until(() => ofType().length >= times, { what: `${type} is told ${times} times` })
  const event = ofType()[times - 1]
  assert.ok(event)
  return event
}
