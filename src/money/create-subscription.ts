import type { Kysely } from 'kysely'
import { requireAllowedReturn } from '../checkout/draft-payment.ts'
import { requirePaymentMethod } from '../checkout/require-payment-method.ts'
import { readCreation } from '../database/subscription-creations.ts'
import { sqlStateOf } from '../database/failure.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { QuittanceError, fieldError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { beginSubscription } from '../subscriptions/begin-subscription.ts'
import { boundary } from '../subscriptions/boundary.ts'
import type { NewSubscription } from '../subscriptions/change.ts'
import type { Subscription, WantedQuotas } from '../subscriptions/subscription.ts'
import type { MoneyContext, SubscriptionContext } from './context.ts'
import { writeDecided, handOverPeriod } from './decide-subscription.ts'
import { giveQuotas } from './give-quotas.ts'
import { requireMoney } from './require-money.ts'
import { requirePlan, resolveTerms, type ResolvedTerms } from './resolve-plan.ts'
import type { SubscriptionInputs } from './subscription-input.ts'
import { readMoment } from './subscription-moment.ts'

type Input = SubscriptionInputs['create']

/**
 * Makes a subscription of what a caller gave, once for an id of the caller's. Everything that can be
 * refused is refused before anything is written. Errors: those of `billing.subscriptions.create`.
 */
export async function makeSubscription(
  input: Input,
  context: SubscriptionContext,
): Promise<CreatedSubscription> {
  const found = requireGateway(context.processing.gateways, input.gateway)
  const content = contentOf({ ...input, gateway: found.gateway.name })
  const { id = context.processing.newId(), returnUrl } = input
  // A repeated call needs nothing that may have changed since: plan, card, time.
  const known = await findMade(id, content, context)
  if (known !== undefined) return known
  const made = await newSubscription(id, { input, found }, context)
  const quotas = { ...planOf(input, context)?.quotas, ...input.quotas }
  return createSubscription(made, content, { ...context, returnUrl, quotas })
}

function planOf({ plan }: Input, { subscriptions: { plans } }: SubscriptionContext) {
  return plan === undefined ? undefined : requirePlan(plan, plans)
}

async function findMade(
  id: string,
  content: string,
  { processing }: SubscriptionContext,
): Promise<CreatedSubscription | undefined> {
  const { db } = processing.database
  const known = await readCreation(db, id)
  const subscription = known && (await findSubscription(db, id))
  if (known === undefined || subscription === undefined) return undefined
  requireSame(known, content)
  return { subscription, payment: known.firstPayment }
}

/**
 * What a repeated call must give again; not the id, by which the other was found. That we charge it
 * may be said or left out.
 */
function contentOf(input: Input): string {
  const { id: _, managedBy, ...content } = input
  return JSON.stringify(sorted(managedBy === 'provider' ? { ...content, managedBy } : content))
}

/** The same text whatever the order of the fields; JSON has no bigint. */
function sorted(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  )
}

async function newSubscription(
  id: string,
  { input, found }: { readonly input: Input; readonly found: RegisteredGateway },
  context: SubscriptionContext,
): Promise<NewSubscription> {
  const { gateway, credentials } = found
  const { database, subscriptionTime } = context.processing
  const terms = resolveTerms(input, context.subscriptions.plans)
  const { managedBy = 'local' } = input
  if (managedBy === 'provider') requireManageable(found, terms, input)
  else requireSellable(found, terms, input)
  requireAllowedReturn(input.returnUrl ?? null, context)
  const account = gateway.account(credentials)
  const { paymentMethodId = null, merchantAccount = account.merchantAccount } = input
  if (paymentMethodId !== null) {
    await requirePaymentMethod(database.db, { paymentMethodId, merchantAccount }, found)
  }
  const { timeZone = context.subscriptions.timeZone } = input
  const now = await subscriptionTime(database.db)
  return {
    id,
    managedBy,
    gateway: gateway.name,
    merchantAccount,
    live: input.live ?? account.live,
    plan: terms.plan,
    amount: terms.amount,
    currency: terms.currency,
    every: terms.every,
    payable: input.payable,
    description: input.description ?? null,
    customer: input.customer ?? null,
    metadata: input.metadata ?? null,
    timeZone,
    paymentMethodId,
    graceAccess: input.graceAccess ?? context.subscriptions.graceAccess,
    trialEndsAt: later('trialEndsAt', trialEnd(terms.trial, timeZone, now), now),
    paidUntil: later('paidUntil', input.paidUntil ?? null, now),
  }
}

/** Renewals charge a saved card; one that is not there yet is saved on a page. */
function requireSellable(
  found: RegisteredGateway,
  terms: ResolvedTerms,
  { paymentMethodId }: Input,
): void {
  requireOwnCharges(found)
  if (paymentMethodId === undefined) requireOperation(found, 'checkout')
  requireMoney(found, terms)
}

/** Where only the provider itself charges again, that is the other way to sell one. */
function requireOwnCharges(found: RegisteredGateway): void {
  const { title, chargeSavedCard, subscriptions } = found.gateway
  if (chargeSavedCard !== undefined || subscriptions === undefined) {
    requireOperation(found, 'chargeSavedCard')
    return
  }
  const text = `${title} cannot charge saved cards; it charges the subscriptions that it manages`
  const fix = "Create it with managedBy: 'provider' (--managed-by provider)."
  throw new QuittanceError('operation_unsupported', text, { fix })
}

/** Days of the subscription's time zone: a trial ends at the time of day at which it began. */
function trialEnd(trial: ResolvedTerms['trial'], timeZone: string, now: Date): Date | null {
  if (trial === null) return null
  if ('endsAt' in trial) return trial.endsAt
  const every = { unit: 'day', count: trial.days } as const
  return boundary({ anchorAt: now, every, timeZone }, 1)
}

function later(field: string, at: Date | null, now: Date): Date | null {
  if (at === null || at > now) return at
  const fault = `must be in the future, got ${at.toISOString()}`
  throw fieldError('subscription_invalid', field, fault)
}

/** A subscription as it is now, and the payment of its first period, if that is owed at once. */
export interface CreatedSubscription {
  readonly subscription: Subscription
  readonly payment: Payment | null
}

/**
 * Makes a subscription and hands over the payment of its first period, once, however often it is
 * called with the same id: `content` is what the caller gave, and a repeated call must give the
 * same. Errors: `subscription_exists`, those of `handOverPeriod` and `draftPeriodPayment`.
 */
export async function createSubscription(
  input: NewSubscription,
  content: string,
  context: Omit<Creator, 'token'>,
): Promise<CreatedSubscription> {
  const { processing } = context
  const creating = { ...context, token: processing.newId() }
  const written = await retryPassing(() => write(input, content, creating), processing.random)
  processing.wake('subscription_events')
  const { payment, isNew } = written
  const handed = isNew && payment !== null ? await handOverPeriod(payment, context) : payment
  const { db } = processing.database
  return { subscription: await required(db, input.id), payment: handed }
}

interface Creator extends MoneyContext {
  readonly token: string
  /** Where the payer can go on to from the page of the first payment. */
  readonly returnUrl?: string | undefined
  /** What it may use. */
  readonly quotas?: WantedQuotas | undefined
}

async function write(
  input: NewSubscription,
  content: string,
  context: Creator,
): Promise<{ readonly payment: Payment | null; readonly isNew: boolean }> {
  const { database } = context.processing
  const known = await readCreation(database.db, input.id)
  if (known !== undefined) return repeated(known, content, context)
  try {
    return { payment: await insert(input, content, context), isNew: true }
  } catch (error) {
    // unique_violation: another call was faster.
    const other =
      sqlStateOf(error) === '23505' ? await readCreation(database.db, input.id) : undefined
    if (other === undefined) throw error
    return repeated(other, content, context)
  }
}

/** This very call may have written it: its commit succeeded, and the answer was lost. */
function repeated(known: Creation, content: string, { token }: Creator) {
  requireSame(known, content)
  return { payment: known.firstPayment, isNew: known.writtenBy === token }
}

type Creation = NonNullable<Awaited<ReturnType<typeof readCreation>>>

function requireSame(known: Creation, content: string): void {
  if (known.content === content) return
  const text = `subscription ${known.id} exists already with other content`
  throw new QuittanceError('subscription_exists', text)
}

function insert(
  input: NewSubscription,
  content: string,
  context: Creator,
): Promise<Payment | null> {
  const { database, newId } = context.processing
  return database.transaction(async ({ db }) => {
    const moment = await readMoment(db, input, context)
    const change = beginSubscription(input, moment)
    const payment = await writeDecided(
      db,
      {
        change,
        moment,
        writing: {
          newId,
          cause: 'operator',
          callId: null,
          queue: context.queue,
          creation: { content, writtenBy: context.token },
        },
      },
      context,
    )
    const { quotas: wanted = {} } = context
    if (Object.keys(wanted).length > 0) {
      const given = { subscription: change.subscription, wanted, now: moment.now }
      await giveQuotas(db, given, { cause: 'operator', newId, queue: context.queue })
    }
    return payment ?? null
  })
}

async function required(db: Kysely<Tables>, id: string): Promise<Subscription> {
  const subscription = await findSubscription(db, id)
  if (subscription === undefined) throw new Error(`subscription ${id} was not written`)
  return subscription
}

/**
 * Refuses what a provider cannot be given to manage: it begins with a checkout there, and has all its
 * charges made by the provider. Errors: `operation_unsupported`, `gateway_not_configured`,
 * `subscription_invalid`.
 */
function requireManageable(
  found: RegisteredGateway,
  terms: ResolvedTerms,
  { paymentMethodId, paidUntil }: SubscriptionInputs['create'],
): void {
  const { gateway } = found
  const subscriptions = requireOperation(found, 'subscriptions')
  if (requireOperation(found, 'checkout').kind !== 'api') {
    const text = `${gateway.title} cannot begin a subscription with a checkout`
    throw new QuittanceError('operation_unsupported', text)
  }
  if (paymentMethodId !== undefined) {
    throw unusable('paymentMethodId', 'the provider charges the card that its checkout saves')
  }
  if (paidUntil !== undefined) {
    throw unusable('paidUntil', 'only what we charge can be brought along')
  }
  if (terms.amount === 0n) throw unusable('amount', 'the provider has nothing to charge')
  requireMoney(found, terms)
  const fault = subscriptions.intervalFault?.(terms.every)
  if (fault === undefined) return
  throw fieldError('subscription_invalid', 'every', `${gateway.title}: ${fault}`)
}

function unusable(field: string, why: string): QuittanceError {
  const fault = `does not go with a subscription that the provider manages: ${why}`
  return fieldError('subscription_invalid', field, fault)
}
