import { setTimeout as pause } from 'node:timers/promises'
import { endSync, takeSync, type SubscriptionLease } from '../queue/due-subscriptions.ts'
import { isPassing } from '../database/failure.ts'
import { lockLeasedStates } from '../database/lock-subscriptions.ts'
import { believeTerms, linkByPayment } from '../database/managed-subscriptions.ts'
import { writeChange } from '../database/subscription-changes.ts'
import { findSubscription } from '../database/subscriptions.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import type { SubscriptionReply } from '../gateways/subscription-operations.ts'
import { days, hours, minutes, seconds, type Duration } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Outcome } from '../payments/outcome.ts'
import { applyReport } from '../processing/apply-report.ts'
import type { SubscriptionChange, SubscriptionState } from '../subscriptions/change.ts'
import { timeOf } from '../subscriptions/match-period.ts'
import { mirror, type Mirrored } from '../subscriptions/mirror.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { planWithoutAnswer } from '../subscriptions/plan-without-answer.ts'
import { askProvider, failureText } from './ask-provider.ts'
import { closePage } from './close-page.ts'
import type { MoneyContext } from './context.ts'
import { requireSubscription } from './decide-subscription.ts'
import { giveQuotas } from './give-quotas.ts'
import { accountFault } from './subscription-moment.ts'

/**
 * What became of a sync:
 * - `lost`: nothing of the answer's statement was applied, for another has the lease by now;
 * - `failed`: the provider did not say how it stands; it is asked again later;
 * - `synced`: it stands here as it does there, or there is nothing to ask.
 */
export type Synced =
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'synced' }

/**
 * Asks a provider how a subscription that it manages stands, and takes that over. **The sync on one
 * screen**: the holder of the lease asks, with no transaction open. Recent charges are applied like the
 * answer to a poll, by the rules and with the listeners of a callback. Then one short transaction locks
 * the row, fenced by the lease, and writes what the statement changes (`mirror`, which is pure). A
 * change since the lease began makes the subscription due again.
 */
export async function syncLeased(lease: SubscriptionLease, context: MoneyContext): Promise<Synced> {
  const asked = await ask(lease, context)
  try {
    return await takeAnswer(lease, asked, context)
  } catch (error) {
    if (asked.kind !== 'answered' || isPassing(error)) throw error
    // It could not be written in two minutes either: it is shown, and keeps no others waiting.
    const failed = { kind: 'failed', error } as const
    if ((await takeOver(lease, failed, context)) === undefined) throw error
    return failed
  }
}

async function takeAnswer(
  lease: SubscriptionLease,
  asked: Asked,
  context: MoneyContext,
): Promise<Synced> {
  // They are what this sync is about, so none of them asks for another.
  const outcomes =
    asked.kind === 'answered'
      ? asked.reply.outcomes.filter(({ type }) => type !== 'subscription')
      : []
  await applyAnswer(lease, { outcomes, isStanding: false }, context)
  const written = await takeOver(lease, asked, context)
  if (written === undefined) return { kind: 'lost' }
  if (written.closing !== null) await closePage(written.closing, written.now, context)
  // Charges that name no time pay for what the statement has opened, or for nothing.
  const { isStanding } = written
  await applyAnswer(lease, { outcomes: outcomes.filter(isUndated), isStanding }, context)
  return asked.kind === 'failed' ? asked : { kind: 'synced' }
}

async function applyAnswer(
  { id, gateway }: SubscriptionLease,
  { outcomes, isStanding }: Pick<Written, 'isStanding'> & { readonly outcomes: readonly Outcome[] },
  { processing, queue }: MoneyContext,
): Promise<void> {
  if (outcomes.length === 0) return
  const report = { gateway, outcomes, cause: 'poll', queue, answersFor: id, isStanding } as const
  await applyReport(report, processing)
}

function isUndated(outcome: Outcome): boolean {
  return outcome.type === 'payment' && timeOf(outcome.period ?? {}) === null
}

/**
 * The same for one subscription, now: for an operator, or after a wish that its provider has taken.
 * If another process is asking, it is waited for, because what it hears may be older than the wish.
 * Returns the subscription as it stands then. Errors: `subscription_not_found`;
 * `subscription_invalid` if we charge it; `renewal_under_way` if another process keeps asking;
 * `gateway_unknown`, `operation_unsupported`, `gateway_not_configured`, and those of the provider.
 */
export async function syncSubscription(id: string, context: MoneyContext): Promise<Subscription> {
  const { db } = context.processing.database
  const known = await requireSubscription(id, context)
  if (known.managedBy === 'local') {
    const text = 'no provider manages it: it is charged by us, and stands as it is shown'
    throw new QuittanceError('subscription_invalid', text)
  }
  if (known.status !== 'canceled') await syncNow(known, context)
  return (await findSubscription(db, id)) ?? known
}

const lookAgainAfter: Duration = seconds(0.2)
/** Beyond the time that a provider has to answer. */
const spare: Duration = seconds(5)

async function syncNow({ id }: Subscription, context: MoneyContext): Promise<void> {
  const { database, newId } = context.processing
  const end = performance.now() + context.answerWithin + spare
  while (performance.now() < end) {
    const lease = await takeSync(database.db, id, newId())
    const synced = lease && (await syncLeased(lease, context))
    if (synced?.kind === 'failed') throw synced.error
    if (synced?.kind === 'synced') return
    await pause(lookAgainAfter)
  }
  const text = 'another process is asking the provider about it: try again in a minute'
  throw new QuittanceError('renewal_under_way', text)
}

type Asked =
  | { readonly kind: 'answered'; readonly reply: SubscriptionReply }
  /** It is over, or the provider has not begun it. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'failed'; readonly error: unknown }

async function ask({ id }: SubscriptionLease, context: MoneyContext): Promise<Asked> {
  const { database } = context.processing
  await database.transaction(({ db }) => linkByPayment(db, id))
  const subscription = await findSubscription(database.db, id)
  const reference = subscription?.providerReference ?? null
  if (subscription === undefined || reference === null || subscription.status === 'canceled') {
    return { kind: 'unasked' }
  }
  try {
    return { kind: 'answered', reply: await read({ ...subscription, reference }, context) }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

type Named = Subscription & { readonly reference: string }

async function read(subscription: Named, context: MoneyContext): Promise<SubscriptionReply> {
  const { reference, merchantAccount, live } = subscription
  const found = requireGateway(context.processing.gateways, subscription.gateway)
  const operations = requireOperation(found, 'subscriptions')
  const fault = accountFault(subscription, found)
  if (fault !== null) throw new QuittanceError('gateway_not_configured', fault)
  const request = { reference, merchantAccount, live }
  const reply = await askProvider(
    { of: found, operation: 'read_subscription' },
    context,
    (operation) => operations.read(request, operation),
  )
  const { title } = found.gateway
  if (reply === undefined) throw invalidReply(`${title} has no subscription ${reference}`)
  if (!isAbout(subscription, reply)) {
    throw invalidReply(`${title} answered about another subscription than ${reference}`)
  }
  return reply
}

function isAbout(
  { reference, merchantAccount, live }: Named,
  { statement }: SubscriptionReply,
): boolean {
  const differs = (ours: unknown, stated: unknown) =>
    ours !== null && stated !== undefined && ours !== stated
  return (
    statement.reference === reference &&
    !differs(merchantAccount, statement.merchantAccount) &&
    !differs(live, statement.live)
  )
}

function invalidReply(text: string): QuittanceError {
  return new QuittanceError('provider_reply_invalid', text)
}

interface Written {
  /** The provider has said how it stands, and it stands so here. */
  readonly isStanding: boolean
  /** The checkout of one that nobody has begun, and whose time is over. */
  readonly closing: string | null
  readonly now: Date
}

/** Undefined: the lease was lost, and nothing was written. */
async function takeOver(
  lease: SubscriptionLease,
  asked: Asked,
  context: MoneyContext,
): Promise<Written | undefined> {
  const { processing, queue } = context
  const { database, gateways, newId, subscriptionTime, subscriptionPolicy: policy } = processing
  const written = await database.transaction(async ({ db }) => {
    const state = (await lockLeasedStates(db, [lease], gateways)).get(lease.id)
    if (state === undefined) return undefined
    const now = await subscriptionTime(db)
    const { change, disbelief } = decide(state, { asked, now, policy }, context)
    const writing = { newId, cause: 'poll', callId: null, queue } as const
    await writeChange(db, change, writing)
    // A provider may charge for a new period before the end of the one that quotas count in.
    const given = { subscription: change.subscription, wanted: {}, now }
    const hasReset = await giveQuotas(db, given, writing)
    const isHeard = asked.kind === 'answered'
    if (isHeard && disbelief !== 'terms_mismatch') await believeTerms(db, lease.id)
    const isWanted = await endSync(db, lease, { now, isHeard })
    const isStanding = isHeard && disbelief === null && saysPeriod(asked.reply)
    const { closeCheckout: closing } = change
    const hasEvents = hasReset || change.events.length > 0
    return { hasEvents, isStanding, closing, now, isWanted, disbelief }
  })
  if (written === undefined) return undefined
  if (written.hasEvents) processing.wake('subscription_events')
  if (written.isWanted) processing.wake('subscriptions')
  report(lease, { asked, disbelief: written.disbelief }, context)
  return written
}

/** Where it says none, as of one that is paused, what a charge is for may still be to come. */
function saysPeriod({ statement: { currentPeriod, status } }: SubscriptionReply): boolean {
  return currentPeriod !== null || status === 'canceled'
}

type Decided = Pick<Mirrored, 'disbelief'> & { readonly change: SubscriptionChange }

function decide(
  state: SubscriptionState,
  {
    asked,
    now,
    policy,
  }: {
    readonly asked: Asked
    readonly now: Date
    readonly policy: MoneyContext['processing']['subscriptionPolicy']
  },
  context: MoneyContext,
): Decided {
  const moment = { now, policy, held: false }
  if (asked.kind === 'answered') return mirror(state, asked.reply.statement, moment)
  const error = asked.kind === 'failed' ? failureText(asked.error, context) : null
  const retryAt = new Date(now.getTime() + (error === null ? days(1) : retryAfter(asked)))
  return { change: planWithoutAnswer(state, { error, retryAt }, moment), disbelief: null }
}

/** A provider may be back soon; a setting that is wrong here may be right in another process. */
function retryAfter(asked: Asked): Duration {
  const code =
    asked.kind === 'failed' && isQuittanceError(asked.error) ? asked.error.code : undefined
  if (code === 'provider_unreachable') return minutes(5)
  const isOurs = code === 'gateway_unknown' || code === 'gateway_not_configured'
  return isOurs ? minutes(15) : hours(1)
}

function report(
  { id, gateway }: SubscriptionLease,
  { asked, disbelief }: { readonly asked: Asked; readonly disbelief: Mirrored['disbelief'] },
  { processing: { log } }: MoneyContext,
): void {
  const about = { subscription: id, gateway }
  if (asked.kind === 'failed') {
    log.warn({ ...about, err: asked.error }, 'a provider did not say how a subscription stands')
  } else if (disbelief !== null) {
    log.warn(
      { ...about, reason: disbelief },
      'what a provider says of a subscription does not hold',
    )
  }
}
