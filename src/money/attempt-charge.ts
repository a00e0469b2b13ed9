import { checkoutRequest } from '../checkout/checkout-request.ts'
import { recordCheckout } from '../database/checkouts.ts'
import { mayBeAsked } from '../database/may-be-asked.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment } from '../database/payments.ts'
import { declineKindOf } from '../gateways/decline-kind.ts'
import type { ChargeReply } from '../gateways/operations.ts'
import { requireOperation } from '../gateways/require.ts'
import { assertNever, isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { DeclineKind } from '../payments/decline.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { askAbout, failureText, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { recordFailure, takeAnswer } from './open-checkout.ts'
import { tokenOf } from './saved-card-token.ts'
import { statementOf } from './statement.ts'
import { cancel } from './write-off.ts'

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
  | { readonly kind: 'pending'; readonly needsPayer: boolean; readonly redirectUrl: string | null }
  | { readonly kind: 'refused_by_us'; readonly error: QuittanceError }
  | { readonly kind: 'card_unusable'; readonly error: QuittanceError }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'unknown'; readonly error: QuittanceError }
)

/**
 * Charges the saved card of a payment whose row is committed as `unknown`: one request, whatever
 * happens to it. What the provider says is applied, with its events, before this returns; if a
 * callback was faster, the result is what that has settled. Rejects
 * only if the database stays away; a poll finds out then, too.
 */
export async function attemptCharge(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<ChargeResult> {
  let reply: ChargeReply | NotAsked
  try {
    reply = await request(payment, initiatedBy, context)
  } catch (error) {
    return afterFailure(payment, error, context)
  }
  if (reply === 'given_up')
    return resultByRow(await current(payment, context), nothingMore, context)
  if (reply !== 'card_removed') return afterReply(payment, reply, context)
  const removed = new QuittanceError('payment_method_unusable', 'the saved card has been removed')
  return refuse('card_unusable', { payment, refusal: removed }, context)
}

/**
 * Why nobody was asked: the saved card has been removed; or we were asleep since we wrote the row, a
 * poll has found no charge meanwhile, and the next attempt may be on its way.
 */
type NotAsked = 'card_removed' | 'given_up'

async function request(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<ChargeReply | NotAsked> {
  const found = gatewayOf(payment, context)
  const charge = requireOperation(found, 'chargeSavedCard')
  const { db } = context.processing.database
  const id = payment.paymentMethodId
  const method = id === null ? undefined : await findPaymentMethod(db, id)
  if (method?.status !== 'attached') return 'card_removed'
  const token = await tokenOf(method, context)
  if (token === null && found.gateway.secretFields.length > 0) {
    const text = `the token of saved card ${method.id} cannot be read: its encryption key is gone`
    throw new QuittanceError('payment_method_unusable', text)
  }
  const asked = { ...checkoutRequest(payment, context.addresses), method, token, initiatedBy }
  const about = { of: found, operation: 'charge', payment, describe: () => null } as const
  return askAbout({ ...about, keepsFailuresOnly: true }, context, async (operation) =>
    // Within the time for an answer: whatever keeps this process, nothing leaves later.
    (await mayBeAsked(db, payment)) ? charge(asked, operation) : 'given_up',
  )
}

async function afterReply(
  payment: Payment,
  { redirectUrl, outcomes, needsPayer, ...references }: ChargeReply,
  context: MoneyContext,
): Promise<ChargeResult> {
  const answer = { ...references, ...(redirectUrl !== undefined && { url: redirectUrl }) }
  try {
    await takeAnswer(payment, answer, context)
  } catch (error) {
    if (!isQuittanceError(error) || error.code !== 'checkout_unknown') throw error
    return { kind: 'unknown', payment: await current(payment, context), error }
  }
  const now = await apply(payment, outcomes, context)
  const pending = {
    needsPayer: needsPayer === true || redirectUrl !== undefined,
    redirectUrl: redirectUrl ?? null,
  }
  return resultByRow(now, pending, context)
}

async function afterFailure(
  payment: Payment,
  error: unknown,
  context: MoneyContext,
): Promise<ChargeResult> {
  if (isRefusal(error)) {
    const declineCode = declineIn(payment, error, context)
    return declineCode === undefined
      ? refuse('refused_by_us', { payment, refusal: error }, context)
      : decline(payment, { error, declineCode }, context)
  }
  const failure = await recordFailure(payment, context, error)
  const now = await current(payment, context)
  return now.status === 'pending'
    ? { kind: 'unknown', payment: now, error: failure }
    : resultByRow(now, nothingMore, context)
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

async function decline(
  payment: Payment,
  { error, declineCode }: { readonly error: QuittanceError; readonly declineCode: string },
  context: MoneyContext,
): Promise<ChargeResult> {
  const { processing } = context
  const named = { type: 'payment', payment: { id: payment.id }, ...statementOf(payment) } as const
  await apply(payment, [{ ...named, status: 'failed', declineCode }], context)
  const said = { state: 'closed', error: failureText(error, context) } as const
  await retryPassing(
    () => recordCheckout(processing.database.db, payment.id, said),
    processing.random,
  )
  return resultByRow(await current(payment, context), nothingMore, context)
}

/** Nothing was charged. If this is cut off, a poll cancels the payment. */
async function refuse(
  kind: 'refused_by_us' | 'card_unusable',
  { payment, refusal }: { readonly payment: Payment; readonly refusal: QuittanceError },
  context: MoneyContext,
): Promise<ChargeResult> {
  const error = await recordFailure(payment, context, refusal)
  await cancel(payment, context, 'poll')
  const now = await current(payment, context)
  return now.status === 'canceled'
    ? { kind, payment: now, error }
    : resultByRow(now, nothingMore, context)
}

/** Returns the payment as it is then. */
async function apply(
  payment: Payment,
  outcomes: readonly Outcome[],
  context: MoneyContext,
): Promise<Payment> {
  const report = {
    gateway: payment.gateway,
    outcomes,
    cause: 'poll',
    queue: context.queue,
  } as const
  const applied = await applyReport(report, context.processing)
  const last = applied.findLast((one) => one.payment?.id === payment.id)?.payment
  return last ?? current(payment, context)
}

async function current(payment: Payment, { processing }: MoneyContext): Promise<Payment> {
  return (await findPayment(processing.database.db, payment.id)) ?? payment
}

const nothingMore = { needsPayer: false, redirectUrl: null }

/** A callback may have been faster than the answer. */
function resultByRow(
  payment: Payment,
  pending: { readonly needsPayer: boolean; readonly redirectUrl: string | null },
  context: MoneyContext,
): ChargeResult {
  const { status, declineCode: code } = payment
  switch (status) {
    case 'paid':
    case 'canceled':
      return { kind: status, payment }
    case 'failed': {
      const { gateway } = gatewayOf(payment, context)
      return { kind: 'declined', payment, decline: declineKindOf(gateway, code), code }
    }
    case 'pending':
      return { kind: 'pending', payment, ...pending }
    default:
      return assertNever(status)
  }
}
