import { recordMode } from '../database/checkouts.ts'
import { schedulePoll } from '../database/due-payments.ts'
import { databaseNow } from '../database/now.ts'
import { findPayments } from '../database/payments.ts'
import { refundsOf } from '../database/refunds.ts'
import { closeUnclear, openReview } from '../database/reviews.ts'
import type { PollReply, Standing } from '../gateways/operations.ts'
import { hours } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Outcome, OutcomeResult } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { isMarked, type Applied } from '../outcomes/applied.ts'
import { goesBy } from '../payments/transition.ts'
import { applyReport } from '../processing/apply-report.ts'
import { paymentOf } from '../wire/payment.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireOperation } from '../gateways/require.ts'
import { requestAbout } from './close-checkout.ts'
import { bindCheckout } from './open-checkout.ts'
import {
  askAbout,
  askProvider,
  failureText,
  gatewayOf,
  keepActivity,
  type QuestionAbout,
} from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { noteOf, reviewOf, isLookedAt, isMarkedByPoll, lookedAt, oddityIn } from './poll-review.ts'
import { nextPoll, nextPollAfterFailure, pollInterval } from './poll-schedule.ts'
import { reportRefund } from './refund-payment.ts'
import { requireCharge } from './require-charge.ts'
import { writeOff, isToBeClosed } from './write-off.ts'

/** The result of polling a payment. */
export interface PollResult {
  /** As it is now. */
  readonly payment: Payment
  /** Whether its status is different from before. */
  readonly changed: boolean
  /** How it stands at the provider. */
  readonly standing: Standing
  /** What became of each statement of the provider; `applied` also if it was known before. */
  readonly results: readonly OutcomeResult[]
}

/**
 * Polls a payment at its provider and applies the answer by the same rules as a callback. `said`: what
 * the provider has just said of it, when it was asked about several: then it is not asked. Errors:
 * `payment_not_found`, `operation_unsupported`, `gateway_not_configured`, `refund_under_way`, those
 * of the provider.
 */
export async function pollPayment(
  id: string,
  context: MoneyContext,
  said?: PollReply,
): Promise<PollResult> {
  const payment = await requireCharge(id, context)
  requireOperation(gatewayOf(payment, context), 'poll')
  try {
    return await pollCharge(payment, context, said)
  } catch (error) {
    await pollLater(payment, context, error).catch((second: unknown) =>
      context.processing.log.warn({ err: second }, 'a failed poll was not recorded'),
    )
    throw error
  }
}

async function pollCharge(
  payment: Payment,
  context: MoneyContext,
  said?: PollReply,
): Promise<PollResult> {
  const { gateway } = gatewayOf(payment, context)
  const { db } = context.processing.database
  const reply = said ?? (await requestPoll(payment, context))
  await takeFound(payment, reply, context)
  const { outcomes, standing } = reply
  const applied = await applyReport(
    { gateway: gateway.name, outcomes, cause: 'poll', queue: context.queue },
    context.processing,
  )
  await takeMode(payment, { outcomes, applied }, context)
  const known = await requireCharge(payment.id, context)
  const review = reviewOf({ payment: known, standing, applied })
  const noted = await reviewPoll({ payment, applied, review }, context)
  const now = await databaseNow(db)
  await resolveRefunds(known, { reply, applied, review: noted, now }, context)
  if (review === undefined) await writeOff(known, { reply, now }, context)
  const after = await requireCharge(payment.id, context)
  const { retryWindow } = gateway
  const isUndecided = review !== undefined || standing === 'undecided'
  const wait = nextPoll({ payment: after, now, retryWindow, isUndecided })
  const note = after.status === 'paid' ? noteOf(applied) : undefined
  const pollError = noted ?? note ?? null
  await schedulePoll(db, payment.id, { wait, error: pollError })
  return {
    payment: paymentOf({ ...after, pollError }),
    changed: after.status !== payment.status,
    standing,
    results: applied.map(resultOf),
  }
}

async function requestPoll(payment: Payment, context: MoneyContext): Promise<PollReply> {
  const found = gatewayOf(payment, context)
  const poll = requireOperation(found, 'poll')
  return askAbout(pollQuestion(payment, found), context, (operation) =>
    poll(requestAbout(payment), operation),
  )
}

/** How a poll is counted, and what is kept of its answer. */
function pollQuestion(payment: Payment, of: RegisteredGateway): QuestionAbout<PollReply> {
  return { of, operation: 'poll', payment, describe: saidOf }
}

/** Such as `open`, or `undecided, payment paid`. */
function saidOf({ standing, outcomes }: PollReply): string {
  const said = outcomes.flatMap((one) => ('status' in one ? [`${one.type} ${one.status}`] : []))
  return [standing, ...said].join(', ').slice(0, longestSaid)
}

const longestSaid = 200

/**
 * A checkout that was found again is bound before anything is applied: callbacks wait for it.
 * Error: `provider_reply_invalid` if it belongs to another payment; then so does everything that
 * the reply says of it.
 */
async function takeFound(
  payment: Payment,
  { checkout }: PollReply,
  context: MoneyContext,
): Promise<void> {
  if (checkout === undefined || payment.checkout === 'none') return
  const state = checkout.url === undefined ? 'unknown' : 'open'
  const bound = await bindCheckout(payment, { state, found: checkout }, context)
  if (bound !== undefined) return
  const text = `${payment.gateway} names a checkout that belongs to another payment`
  throw new QuittanceError('provider_reply_invalid', text)
}

/** The payment takes the mode of what was applied: from then on no test callback moves it. */
async function takeMode(
  { id, live }: Payment,
  said: { readonly outcomes: readonly Outcome[]; readonly applied: readonly Applied[] },
  { processing }: MoneyContext,
): Promise<void> {
  const { outcomes, applied } = said
  const isApplied = applied.some((one) => one.kind === 'claim' && one.type.startsWith('payment:'))
  const [stated] = outcomes.flatMap((one) => (one.type === 'payment' ? (one.live ?? []) : []))
  if (live !== null || !isApplied || stated === undefined) return
  await recordMode(processing.database.db, id, stated)
}

function resultOf(applied: Applied): OutcomeResult {
  return applied.kind === 'claim' ? { result: 'applied', type: applied.type } : applied.result
}

/** The charge and its pending refunds are polled again after a while. */
async function pollLater(payment: Payment, context: MoneyContext, cause: unknown): Promise<void> {
  const { db } = context.processing.database
  const error = failureText(cause, context)
  const wait = nextPollAfterFailure(payment, await databaseNow(db))
  // A payment outside the polling schedule is not put on it by a poll by hand.
  const isAsked = payment.handedAt !== null && payment.status !== 'paid'
  await schedulePoll(db, payment.id, { wait: isAsked ? wait : null, error })
  for (const { refund } of await refundsOf(db, payment.id)) {
    if (refund.status === 'pending') await schedulePoll(db, refund.id, { wait, error })
  }
}

/** Whether the failure is about the provider as a whole, not about this payment. */
export function isProviderDown(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'provider_unreachable'
}

/** A provider that does not list a refund by then never got the request. */
const usualLag = hours(1)

/** A poll whose outcomes are applied. */
interface AppliedReply {
  readonly reply: PollReply
  readonly applied: readonly Applied[]
  /** Why a person should look at it: until then no refund counts as failed. */
  readonly review: string | undefined
  readonly now: Date
}

/**
 * What a poll means for refunds whose request was never answered, once its outcomes are applied: a
 * refund that the provider does not list was not made. The others are polled again.
 */
async function resolveRefunds(
  charge: Payment,
  { reply, applied, review, now }: AppliedReply,
  context: MoneyContext,
): Promise<void> {
  const { db } = context.processing.database
  const isClear = review === undefined && reply.standing === 'paid'
  const listsRefunds = isClear && reply.listsRefunds && areAllKnown(applied)
  for (const { refund } of await refundsOf(db, charge.id)) {
    if (refund.status !== 'pending') continue
    const age = now.getTime() - (refund.handedAt ?? refund.createdAt).getTime()
    const { refundsLag = usualLag } = reply
    const isOurs = refund.handedAt !== null && refund.providerReference === null
    if (isOurs && listsRefunds && age > refundsLag) {
      await reportRefund(refund, { status: 'failed' }, { context, cause: 'poll' })
      continue
    }
    await schedulePoll(db, refund.id, { wait: pollInterval(age), error: review ?? null })
  }
}

/** A reported refund that fits no row may be the very one that seems to be missing. */
function areAllKnown(applied: readonly Applied[]): boolean {
  return applied.every(
    (one) =>
      one.kind !== 'ignored' ||
      one.result.type !== 'refund' ||
      one.result.reason === 'already_settled',
  )
}

/** A poll whose outcomes are applied. */
interface OddPoll {
  /** As it was before. */
  readonly payment: Payment
  readonly applied: readonly Applied[]
  /** Why a person should look; undefined if nobody must. */
  readonly review: string | undefined
}

/**
 * Writes down that a person must look at what a poll found; what was wrong with its outcomes was
 * written with them. Returns what is noted on the payment: a person may have looked before.
 */
async function reviewPoll(
  { payment, applied, review }: OddPoll,
  { processing: { database, newId } }: MoneyContext,
): Promise<string | undefined> {
  if (review === undefined) {
    const { pollError } = payment
    if (isMarkedByPoll(pollError) || isLookedAt(pollError)) {
      await closeUnclear(database.db, payment.id)
    }
    return undefined
  }
  const flagged = applied.filter((one) => one.kind === 'ignored' && one.review)
  if (flagged.length > 0) return flagged.some(isMarked) ? review : lookedAt(review)
  const { id, gateway } = payment
  const finding = { gateway, reason: 'poll_unclear', paymentId: id, callId: null } as const
  const { state } = await database.transaction(({ db }) =>
    openReview(db, { ...finding, detail: oddityIn(review) }, newId),
  )
  return state === 'open' ? review : lookedAt(review)
}

/**
 * What the provider says by one request of as many of these payments as it takes, by id: for
 * `pollPayment`, soon. Undefined: nobody was asked. Errors: those of the provider.
 */
export async function pollTogether(
  ids: readonly string[],
  found: RegisteredGateway,
  context: MoneyContext,
): Promise<ReadonlyMap<string, PollReply> | undefined> {
  const { pollTogether: together } = found.gateway
  if (together === undefined) return undefined
  const known = await findPayments(context.processing.database.db, ids)
  const payments = ids.flatMap((id) => known.get(id) ?? []).filter(canBeListed)
  const asked = payments.slice(0, together.most)
  if (asked.length < 2) return undefined
  const begun = performance.now()
  const question = { of: found, operation: 'poll' } as const
  const said = await askProvider(question, context, (operation) =>
    together.ask(asked.map(requestAbout), operation),
  )
  const durationMs = performance.now() - begun
  const now = await databaseNow(context.processing.database.db)
  const replies = new Map<string, PollReply>()
  for (const payment of asked) {
    const reply = said.get(payment.id)
    if (reply === undefined || !isAbout(payment, reply)) continue
    // What asks the provider once more keeps to its pace: it is polled alone.
    if (isToBeClosed(payment, reply, now)) continue
    replies.set(payment.id, reply)
    const about = pollQuestion(payment, found)
    const answer = { result: 'answered', detail: about.describe(reply), durationMs }
    await keepActivity(about, context, answer)
  }
  return replies
}

/** A refund is told with its charge; of a paid one more must be asked than how it stands. */
function canBeListed({ type, status, checkoutReference }: Payment): boolean {
  return type === 'charge' && status !== 'paid' && checkoutReference !== null
}

/** A gateway may have matched a list by its order. */
function isAbout(payment: Payment, { outcomes }: PollReply): boolean {
  return outcomes.every((one) => one.payment === undefined || goesBy(payment, one.payment))
}
