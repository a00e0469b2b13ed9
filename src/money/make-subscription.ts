import { requireAllowedReturn } from '../checkout/draft-payment.ts'
import { requirePaymentMethod } from '../checkout/require-payment-method.ts'
import { readCreation } from '../database/subscription-creations.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { boundary } from '../subscriptions/boundary.ts'
import type { NewSubscription } from '../subscriptions/change.ts'
import type { SubscriptionContext } from './context.ts'
import { createSubscription, type CreatedSubscription } from './create-subscription.ts'
import { requireMoney } from './require-money.ts'
import { requireManageable } from './require-manageable.ts'
import { requirePlan, resolveTerms, type ResolvedTerms } from './resolve-plan.ts'
import type { SubscriptionInputs } from './subscription-input.ts'

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
  if (known.content === content) return { subscription, payment: known.firstPayment }
  const text = `subscription ${id} exists already with other content`
  throw new QuittanceError('subscription_exists', text)
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
