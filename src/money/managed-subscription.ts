import { readSubscriptionState } from '../database/lock-subscriptions.ts'
import { requestSyncs } from '../database/managed-subscriptions.ts'
import type { OperationContext } from '../gateways/interpret-context.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import type {
  SubscriptionOperations,
  SubscriptionWishRequest,
} from '../gateways/subscription-operations.ts'
import { QuittanceError, isQuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { cancelUnbegun } from '../subscriptions/cancel-subscription.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { askProvider } from './ask-provider.ts'
import { closeForPayer, dropPayment } from './cancel-payment.ts'
import type { MoneyContext } from './context.ts'
import {
  carryOut,
  decideSubscription,
  refusal,
  requireSubscription,
  type Wish,
} from './decide-subscription.ts'
import { requireAddress } from './open-checkout.ts'
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
    return requireAddress(await requireCharge(live.id, context))
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

/** What a merchant wishes of a subscription that a provider manages. */
interface ProviderWish {
  readonly name: 'cancel' | 'pause' | 'resume'
  /** Asks for it; undefined: the provider offers no such thing. */
  ask(
    operations: SubscriptionOperations,
    request: SubscriptionWishRequest,
    operation: OperationContext,
  ): Promise<void> | undefined
}

/**
 * Asks the provider once, under an id made for this call, and then how the subscription stands: its
 * answer alone changes what is stored. No transaction is open. Errors: `operation_unsupported`,
 * `gateway_not_configured`, `gateway_unknown`, `subscription_invalid` for one that has not begun,
 * those of the provider. If the provider did not answer it may have done what was asked: it is asked
 * later how the subscription stands.
 */
async function askProviderTo(
  known: Subscription,
  wish: ProviderWish,
  context: MoneyContext,
): Promise<Subscription> {
  const { processing } = context
  const { id, providerReference: reference, merchantAccount, live } = known
  const found = requireGateway(processing.gateways, known.gateway)
  const operations = requireWish(found, wish)
  if (reference === null) throw notBegun()
  const request = { reference, merchantAccount, live, wishId: processing.newId() }
  try {
    await askProvider({ of: found, operation: 'change_subscription' }, context, async (operation) =>
      wish.ask(operations, request, operation),
    )
  } catch (error) {
    // A refusal, too, may mean that it stands otherwise than we know.
    await requestSync(id, context)
    throw error
  }
  return syncSubscription(id, context)
}

/** Best effort: it is asked about from time to time in any case. */
async function requestSync(id: string, { processing }: MoneyContext): Promise<void> {
  const { database, log, subscriptionTime, wake } = processing
  try {
    await requestSyncs(database.db, [id], await subscriptionTime(database.db))
    wake('subscriptions')
  } catch (error) {
    log.warn({ err: error, subscription: id }, 'a provider is not asked at once what it has done')
  }
}

function requireWish(found: RegisteredGateway, { name }: ProviderWish): SubscriptionOperations {
  const operations = requireOperation(found, 'subscriptions')
  if (operations[name] !== undefined) return operations
  const text = `${found.gateway.title} cannot ${name} a subscription that it manages`
  throw new QuittanceError('operation_unsupported', text)
}

function notBegun(): QuittanceError {
  const text = 'nothing of the subscription has been paid yet: its provider has not begun it'
  return new QuittanceError('subscription_invalid', text, {
    fix: 'Wait until it has, or cancel it.',
  })
}

/**
 * Ends a subscription whose provider is not known to have begun it: its checkout is closed there
 * first, for whoever pays on it has a subscription at the provider, ended here or not. As it is then;
 * with a `providerReference` if it has begun after all, and then nothing else was done. Errors:
 * `renewal_under_way`, `subscription_ended`, `checkout_unknown`, those of the provider.
 */
async function endUnbegun(
  subscription: Subscription,
  context: MoneyContext,
): Promise<Subscription> {
  const { database, gateways } = context.processing
  const { id } = subscription
  const { live } = await readSubscriptionState(database.db, subscription, gateways)
  const checkout = live === null ? null : await closed(live.id, context)
  if (checkout === 'completed') {
    const known = await requireSubscription(id, context)
    if (known.providerReference !== null || known.status === 'canceled') return known
    throw completed()
  }
  const decided = await decideSubscription(id, cancelUnbegun, context)
  // What the provider has just said of the checkout may have ended it.
  const isEnded = decided.kind === 'refused' && decided.reason === 'subscription_ended'
  if (decided.kind === 'refused' && !(isEnded && checkout !== null)) throw refusal(decided)
  if (checkout !== null) await drop(checkout, context)
  return requireSubscription(id, context)
}

async function closed(id: string, context: MoneyContext): Promise<Payment | 'completed'> {
  try {
    return await closeForPayer(id, context)
  } catch (error) {
    if (isPaid(error)) return 'completed'
    throw error
  }
}

/** Money that comes all the same has a review by then. */
async function drop(payment: Payment, context: MoneyContext): Promise<void> {
  try {
    await dropPayment(payment, context)
  } catch (error) {
    if (!isPaid(error)) throw error
  }
}

function isPaid(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'payment_not_cancelable'
}

function completed(): QuittanceError {
  const text = 'its checkout is paid, or being paid, and the provider has not named it yet'
  const fix = 'Try again in a minute: quittance subscriptions sync ID'
  return new QuittanceError('renewal_under_way', text, { fix })
}
