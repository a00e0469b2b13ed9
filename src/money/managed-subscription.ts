import { readSubscriptionState } from '../database/lock-subscriptions.ts'
import { requireGateway } from '../gateways/require.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { askProviderTo, type ProviderWish } from './ask-managed.ts'
import { endUnbegun } from './cancel-unbegun.ts'
import { carryOut, requireSubscription, type Wish } from './carry-out.ts'
import type { MoneyContext } from './context.ts'
import { withAddress } from './open-checkout.ts'
import { pollPayment } from './poll-payment.ts'
import { requireCharge } from './require-charge.ts'
import type { SubscriptionInputs } from './subscription-input.ts'
import { syncSubscription } from './sync-subscription.ts'

/**
 * Asks the provider to end it, with what is paid or now. One that nobody has begun is ended here.
 * Errors: those of `askProviderTo` and `endUnbegun`.
 */
export async function cancelManaged(
  known: Subscription,
  at: 'period_end' | 'now',
  context: MoneyContext,
): Promise<Subscription> {
  requireGoingOn(known)
  if (known.providerReference !== null) return askToCancel(known, at, context)
  const after = await endUnbegun(known, context)
  const hasBegun = after.status !== 'canceled' && after.providerReference !== null
  return hasBegun ? askToCancel(after, at, context) : after
}

function askToCancel(
  known: Subscription,
  at: 'period_end' | 'now',
  context: MoneyContext,
): Promise<Subscription> {
  const wish: ProviderWish = {
    name: 'cancel',
    ask: (operations, request, operation) => operations.cancel?.({ ...request, at }, operation),
  }
  return askProviderTo(known, wish, context)
}

/** Asks the provider to pause it. Errors: those of `askProviderTo`, `subscription_invalid`. */
export async function pauseManaged(
  known: Subscription,
  details: { readonly at: 'period_end' | 'now'; readonly until: Date | null },
  context: MoneyContext,
): Promise<Subscription> {
  requireGoingOn(known)
  const wish: ProviderWish = {
    name: 'pause',
    ask: (operations, request, operation) =>
      operations.pause?.({ ...request, ...details }, operation),
  }
  return askProviderTo(known, wish, context)
}

/** Asks the provider to go on with it. Errors: those of `askProviderTo`, `subscription_invalid`. */
export async function resumeManaged(
  known: Subscription,
  context: MoneyContext,
): Promise<Subscription> {
  requireGoingOn(known)
  const wish: ProviderWish = {
    name: 'resume',
    ask: (operations, request, operation) => operations.resume?.(request, operation),
  }
  return askProviderTo(known, wish, context)
}

/**
 * Only what is ours alone can be changed. Errors: `operation_unsupported`, `subscription_ended`.
 */
export async function changeManaged(
  known: Subscription,
  { metadata, quotas, ...terms }: SubscriptionInputs['change'],
  context: MoneyContext,
): Promise<Subscription> {
  const field = Object.entries(terms).find(([, value]) => value !== undefined)?.[0]
  if (field !== undefined) {
    const title = titleOf(known, context)
    const text = `${field} cannot be changed: ${title} manages the subscription, and charges what it began with`
    const fix = 'Cancel it, and create another with the terms that it is to have.'
    throw new QuittanceError('operation_unsupported', text, { fix, field })
  }
  const changes = metadata === undefined ? {} : { metadata }
  const change: Wish = (state, moment) => changeSubscription(state, changes, moment)
  return carryOut(known.id, change, {
    ...context,
    quotas: quotas === 'keep' ? undefined : quotas,
  })
}

/**
 * The checkout that begins it, while that is open. There is never another: two of them could begin
 * two subscriptions. Errors: `subscription_ended`, `operation_unsupported`, `checkout_unknown`.
 */
export async function payManaged(known: Subscription, context: MoneyContext): Promise<Payment> {
  requireGoingOn(known)
  const { database, gateways, subscriptionTime } = context.processing
  const { live } = await readSubscriptionState(database.db, known, gateways)
  const now = await subscriptionTime(database.db)
  const isOver = live?.expiresAt != null && live.expiresAt <= now
  if (known.status === 'incomplete' && live?.isPage === true && !isOver) {
    return withAddress(await requireCharge(live.id, context))
  }
  const title = titleOf(known, context)
  if (known.status === 'incomplete') {
    const text = `the checkout that begins the subscription at ${title} has ended, or is completed`
    const fix = 'If nobody has paid on it, cancel it, and create another.'
    throw new QuittanceError('operation_unsupported', text, { fix })
  }
  const text = `${title} manages the subscription, and charges the customer by itself`
  const fix = 'Where it has no card to charge, the customer gives it another one there.'
  throw new QuittanceError('operation_unsupported', text, { fix })
}

/**
 * Asks the provider how it stands, and lets it stand so here. One that is not known to have begun is
 * looked for by its checkout. Errors: those of `syncSubscription` and `pollPayment`.
 */
export async function syncNow(id: string, context: MoneyContext): Promise<Subscription> {
  const known = await requireSubscription(id, context)
  const { managedBy, providerReference } = known
  if (managedBy === 'provider' && providerReference === null) await lookFor(known, context)
  return syncSubscription(id, context)
}

/** Whoever has paid has begun it, and the provider names it with what was paid. */
async function lookFor(known: Subscription, context: MoneyContext): Promise<void> {
  const { database, gateways } = context.processing
  const { live } = await readSubscriptionState(database.db, known, gateways)
  if (live !== null) await pollPayment(live.id, context)
}

function requireGoingOn({ status }: Subscription): void {
  if (status !== 'canceled') return
  throw new QuittanceError('subscription_ended', 'the subscription has ended')
}

function titleOf({ gateway }: Subscription, { processing }: MoneyContext): string {
  return requireGateway(processing.gateways, gateway).gateway.title
}
