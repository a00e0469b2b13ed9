import { checkoutRequest } from '../checkout/checkout-request.ts'
import { isOfAnother, type CheckoutAnswer } from '../database/checkouts.ts'
import { isPassing } from '../database/failure.ts'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { mayBeAsked } from '../database/may-be-asked.ts'
import { findPayment } from '../database/payments.ts'
import { writeChange } from '../database/subscription-changes.ts'
import { returnAsSubscribed } from '../database/subscription-creations.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { declineKindOf } from '../gateways/decline-kind.ts'
import type { ChargeReply } from '../gateways/operations.ts'
import { requireOperation } from '../gateways/require.ts'
import { batched } from '../kernel/batched.ts'
import { assertNever, QuittanceError } from '../kernel/errors.ts'
import { together } from '../kernel/together.ts'
import type { DeclineKind } from '../payments/decline.ts'
import type { Outcome, PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import {
  applyReports,
  type AppliedReport,
  type ProviderReport,
} from '../processing/apply-report.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { planAction } from '../subscriptions/plan-action.ts'
import { askAbout, failureText, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { checkoutFailure, ofAnother } from './open-checkout.ts'
import { readSavedCards, type SavedCard } from './read-saved-cards.ts'
import { requeueEarlyCalls } from './requeue-early-calls.ts'
import { statementOf } from './statement.ts'
import { readMoment } from './subscription-moment.ts'

/**
 * What became of the one request to charge a saved card; `payment` is as it is then:
 * - `paid`;
 * - `declined`: it is `failed`, and `decline` says what that means for the card;
 * - `pending`: nothing is decided. With `needsPayer` nothing will be until the payer confirms it,
 *   at `redirectUrl` if there is such a place;
 * - `refused_by_us`: nothing was charged, and the card has nothing to do with it: our settings, our
 *   request or our key are wrong. It is `canceled`, its checkout `refused`;
 * - `card_unusable`: the saved card has been removed, so nobody was asked; `canceled` as well;
 * - `canceled`: the provider has ended it without a charge;
 * - `unknown`: it may have been charged or not. A poll finds out; it is not asked for again.
 */
export type ChargeResult = { readonly payment: Payment } & (
  | { readonly kind: 'paid' }
  | { readonly kind: 'declined'; readonly decline: DeclineKind; readonly code: string | null }
  | ({ readonly kind: 'pending' } & Waiting)
  | { readonly kind: 'refused_by_us' | 'card_unusable'; readonly error: QuittanceError }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'unknown'; readonly error: QuittanceError }
)

interface Waiting {
  readonly needsPayer: boolean
  readonly redirectUrl: string | null
}

/** Whether the customer is there, or the merchant charges a card as agreed. */
export type InitiatedBy = 'customer' | 'merchant'

/** Charges one saved card, in the manner of `chargeCards`. */
export async function chargeCard(
  payment: Payment,
  initiatedBy: InitiatedBy,
  context: MoneyContext,
): Promise<ChargeResult> {
  const [charged] = chargeCards([payment], { initiatedBy }, context)
  if (charged === undefined) throw new Error(`payment ${payment.id} was passed over`)
  return charged
}

/**
 * Charges the saved cards of payments whose rows are committed as `unknown`. Each request is sent
 * once. The answers are applied, with their events and with all that follows for subscriptions,
 * before a result is there. If a callback was faster, the result is what the callback has settled.
 * Answers that come at about the same time are applied in one transaction. A result rejects only if
 * the database stays away; then a poll finds out.
 */
export function chargeCards(
  payments: readonly Payment[],
  { initiatedBy, onAnswered = () => {} }: ChargeOptions,
  context: MoneyContext,
): readonly Promise<ChargeResult>[] {
  const ids = payments.flatMap(({ paymentMethodId }) => paymentMethodId ?? [])
  // The rows are committed: from now on the removal of a card waits for its charge.
  const cards = readSavedCards(ids, context)
  // Each charge waits for it, and tells its error.
  cards.catch(() => {})
  const { db } = context.processing.database
  const mayAsk = batched(payments.length, (all: readonly string[]) => mayBeAsked(db, all))
  const apply = together(payments.length, (meant: readonly Meant[]) => {
    for (const { payment, reply } of meant) if (reply.kind === 'answered') onAnswered(payment)
    return applyAll(meant, context)
  })
  return payments.map(async (payment) => {
    const reply = await ask(payment, { cards, mayAsk, initiatedBy }, context)
    return apply(meantBy({ payment, reply }, context))
  })
}

interface ChargeOptions {
  readonly initiatedBy: InitiatedBy
  /** Called once a provider has answered, before the answer is applied. */
  readonly onAnswered?: (payment: Payment) => void
}

/** What came of a request: the only thing that is known of it. */
type Reply =
  | { readonly kind: 'answered'; readonly answer: ChargeReply }
  /** Refused, by a code that is a decline of the card. */
  | { readonly kind: 'declined'; readonly error: QuittanceError; readonly declineCode: string }
  /** Nothing was charged, by a fault of our own. */
  | { readonly kind: 'refused'; readonly error: QuittanceError }
  /** Nobody was asked. */
  | { readonly kind: 'card_removed'; readonly error: QuittanceError }
  /** Nobody was asked: we were asleep since we wrote the row, a poll has found no charge meanwhile. */
  | { readonly kind: 'too_late' }
  /** There may be a charge. */
  | { readonly kind: 'unanswered'; readonly error: unknown }

interface Asked {
  readonly payment: Payment
  readonly reply: Reply
}

interface Asking {
  readonly cards: Promise<ReadonlyMap<string, SavedCard>>
  readonly mayAsk: (id: string) => Promise<boolean>
  readonly initiatedBy: InitiatedBy
}

async function ask(
  payment: Payment,
  { cards, mayAsk, initiatedBy }: Asking,
  context: MoneyContext,
): Promise<Reply> {
  try {
    const found = gatewayOf(payment, context)
    const charge = requireOperation(found, 'chargeSavedCard')
    const card = (await cards).get(payment.paymentMethodId ?? '')
    if (card?.method.status !== 'attached') return { kind: 'card_removed', error: removed() }
    requireToken(card, found.gateway.secretFields.length > 0)
    const asked = { ...checkoutRequest(payment, context.addresses), ...card, initiatedBy }
    const about = { of: found, operation: 'charge', payment, describe: () => null } as const
    return await askAbout({ ...about, keepsFailuresOnly: true }, context, async (operation) => {
      // Within the time for an answer: a process that stood still sends nothing later.
      if (!(await mayAsk(payment.id))) return tooLate
      return { kind: 'answered', answer: await charge(asked, operation) }
    })
  } catch (error) {
    if (!isRefusal(error)) return { kind: 'unanswered', error }
    const declineCode = declineIn(payment, error, context)
    return declineCode === undefined
      ? { kind: 'refused', error }
      : { kind: 'declined', error, declineCode }
  }
}

const tooLate: Reply = { kind: 'too_late' }

function removed(): QuittanceError {
  return new QuittanceError('payment_method_unusable', 'the saved card has been removed')
}

function requireToken({ method, token }: SavedCard, isNeeded: boolean): void {
  if (token !== null || !isNeeded) return
  const text = `the token of saved card ${method.id} cannot be read: its encryption key is gone`
  throw new QuittanceError('payment_method_unusable', text)
}

/** The code of a refusal by which the provider declines the card, although it charged nothing. */
function declineIn(
  payment: Payment,
  { code, providerCode }: QuittanceError,
  context: MoneyContext,
): string | undefined {
  if (code !== 'provider_refused' || providerCode === undefined) return undefined
  const { declines } = gatewayOf(payment, context).gateway
  return declines?.has(providerCode) === true ? providerCode : undefined
}

type Meant = Asked & { readonly meaning: Meaning }

/** A gateway of the app may be JavaScript: what is no answer at all is none. */
function meantBy(asked: Asked, context: MoneyContext): Meant {
  try {
    return { ...asked, meaning: meaningOf(asked, context) }
  } catch (error) {
    const unanswered = { ...asked, reply: { kind: 'unanswered', error } } as const
    return { ...unanswered, meaning: meaningOf(unanswered, context) }
  }
}

/** What a reply means. A callback may have settled something else meanwhile. */
interface Meaning {
  /** What is written of the request. */
  readonly answer?: CheckoutAnswer
  readonly outcomes: readonly Outcome[]
  /** The result if the payment is pending then; undefined: it is not known. */
  readonly waiting?: Waiting
  /** The result if it is canceled then. */
  readonly canceled?: 'refused_by_us' | 'card_unusable'
}

/** The only place that looks at a reply. */
function meaningOf({ payment, reply }: Asked, context: MoneyContext): Meaning {
  const error = 'error' in reply ? failureText(reply.error, context) : null
  const { id } = payment
  const ofPayment = { type: 'payment', payment: { id }, ...statementOf(payment) } as const
  switch (reply.kind) {
    case 'answered': {
      const { redirectUrl, outcomes, needsPayer, ...references } = reply.answer
      const found = { ...references, ...(redirectUrl !== undefined && { url: redirectUrl }) }
      const waiting = {
        needsPayer: needsPayer === true || redirectUrl !== undefined,
        redirectUrl: redirectUrl ?? null,
      }
      return { answer: { state: 'open', found, error }, outcomes, waiting }
    }
    case 'declined': {
      const { declineCode } = reply
      const failed: PaymentOutcome = { ...ofPayment, status: 'failed', declineCode }
      return { answer: { state: 'closed', error }, outcomes: [failed], waiting: nothingMore }
    }
    case 'refused':
    case 'card_removed': {
      const canceled = reply.kind === 'refused' ? 'refused_by_us' : 'card_unusable'
      const outcomes: readonly Outcome[] = [{ ...ofPayment, status: 'canceled' }]
      return { answer: { state: 'refused', error }, outcomes, waiting: nothingMore, canceled }
    }
    case 'unanswered':
      return { answer: { state: 'unknown', error }, outcomes: [] }
    case 'too_late':
      return { outcomes: [], waiting: nothingMore }
    default:
      return assertNever(reply)
  }
}

const nothingMore: Waiting = { needsPayer: false, redirectUrl: null }

/** One transaction writes what came of the requests, and applies what was said of the payments. */
async function applyAll(
  meant: readonly Meant[],
  context: MoneyContext,
): Promise<readonly PromiseSettledResult<ChargeResult>[]> {
  for (const one of meant) logFailure(one, context)
  const reports = meant.map((one) => reportOf(one, one.meaning.outcomes, context))
  const applied = await applyReports(reports, context.processing)
  return Promise.allSettled(
    meant.map(async (one, index) => {
      const end = applied[index]
      return end?.status === 'fulfilled'
        ? announce(one, end.value, context)
        : afterRejection(one, end?.reason, context)
    }),
  )
}

function reportOf(
  { payment: { id, gateway }, meaning: { answer } }: Meant,
  outcomes: readonly Outcome[],
  { queue }: MoneyContext,
): ProviderReport {
  return { gateway, outcomes, cause: 'poll', queue, answer: answer && { ...answer, paymentId: id } }
}

function logFailure({ payment, reply, meaning: { answer } }: Meant, context: MoneyContext): void {
  if (answer?.state !== 'refused' && answer?.state !== 'unknown') return
  const err = 'error' in reply ? reply.error : undefined
  context.processing.log.warn({ err, payment: payment.id }, `checkout ${answer.state}`)
}

/** If another payment has the ids of an answer, all that it says may be about the other payment. */
async function afterRejection(
  one: Meant,
  error: unknown,
  context: MoneyContext,
): Promise<ChargeResult> {
  const { payment } = one
  if (!isOfAnother(error)) {
    if (!isPassing(error)) await keepAnswer(one, context)
    throw error
  }
  const unknown = { kind: 'unanswered', error: new Error(ofAnother(payment)) } as const
  const [end] = await applyAll([meantBy({ payment, reply: unknown }, context)], context)
  if (end?.status !== 'fulfilled') throw end?.reason
  return end.value
}

/** What the answer says cannot be applied: a poll finds the charge by the ids of the answer. */
async function keepAnswer(one: Meant, context: MoneyContext): Promise<void> {
  // Closed without its decline, it would no longer stand in the way of the next attempt.
  if (one.meaning.answer?.state === 'closed') return
  const [kept] = await applyReports([reportOf(one, [], context)], context.processing)
  const answered = kept?.status === 'fulfilled' ? kept.value.answered : undefined
  if (answered !== undefined) await requeueEarlyCalls(answered, context, one.payment)
}

/** What was committed: callbacks that wait for its ids are told, and the payer is waited for. */
async function announce(
  { payment: asked, reply, meaning }: Meant,
  { applied, answered }: AppliedReport,
  context: MoneyContext,
): Promise<ChargeResult> {
  const { database, random } = context.processing
  if (answered !== undefined) await requeueEarlyCalls(answered, context, asked)
  const last = applied.findLast((one) => one.payment?.id === asked.id)?.payment
  const payment = last ?? answered ?? (await findPayment(database.db, asked.id)) ?? asked
  const providerCode =
    reply.kind === 'refused' ? { providerCode: reply.error.providerCode } : undefined
  const result = resultOf(payment, { ...meaning, ...providerCode }, context)
  if (result.kind === 'pending' && result.needsPayer && asked.periodId !== null) {
    await retryPassing(() => awaitPayer(asked, context), random)
    await retryPassing(() => returnAsSubscribed(database.db, asked.id), random)
  }
  return result
}

/** A callback may have been faster than the answer. */
function resultOf(
  payment: Payment,
  { waiting, canceled, providerCode }: Meaning & { readonly providerCode?: string | undefined },
  context: MoneyContext,
): ChargeResult {
  const { status, declineCode: code } = payment
  switch (status) {
    case 'paid':
      return { kind: 'paid', payment }
    case 'failed': {
      const { gateway } = gatewayOf(payment, context)
      return { kind: 'declined', payment, decline: declineKindOf(gateway, code), code }
    }
    case 'canceled':
      return canceled === undefined
        ? { kind: 'canceled', payment }
        : { kind: canceled, payment, error: checkoutFailure(payment, providerCode) }
    case 'pending':
      return waiting === undefined
        ? { kind: 'unknown', payment, error: checkoutFailure(payment) }
        : { kind: 'pending', payment, ...waiting }
    default:
      return assertNever(status)
  }
}

/**
 * The subscription takes note that the charge waits for its payer. Nothing but the answer says so
 * where the provider has no page for that.
 */
async function awaitPayer(payment: Payment, context: MoneyContext): Promise<void> {
  const { database, gateways, newId } = context.processing
  await database.transaction(async ({ db }) => {
    const period = payment.periodId === null ? undefined : await findPeriod(db, payment.periodId)
    const state = period && (await lockSubscriptionState(db, period.subscriptionId, gateways))
    if (state?.live?.id !== payment.id) return
    const moment = await readMoment(db, state.subscription, context)
    const live = { ...state.live, needsPayer: true }
    await writeChange(db, planAction({ ...state, live }, moment), {
      newId,
      cause: 'service',
      callId: null,
      queue: context.queue,
    })
  })
  context.processing.wake('subscription_events')
}
