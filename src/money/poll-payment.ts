import { recordMode, schedulePoll } from '../database/checkouts.ts'
import { databaseNow } from '../database/now.ts'
import { findPayment } from '../database/payments.ts'
import { refundsOf } from '../database/refunds.ts'
import type { PollReply, Standing } from '../gateways/operations.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import type { Outcome, OutcomeResult } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied } from '../outcomes/applied.ts'
import { applyReport } from '../processing/apply-report.ts'
import { requireOperation } from '../gateways/require.ts'
import { requestAbout } from './close-checkout.ts'
import { bindCheckout } from './open-checkout.ts'
import { askProvider, failureText, gatewayOf, type Operating } from './operating.ts'
import { noteOf, reviewOf } from './poll-review.ts'
import { nextPoll, nextPollAfterFailure } from './poll-schedule.ts'
import { settleRefunds } from './settle-refunds.ts'
import { writeOff } from './write-off.ts'

/** What asking the provider came to. */
export interface PollResult {
  /** As it stands now. */
  readonly payment: Payment
  /** Its status is another one than before. */
  readonly changed: boolean
  /** How it stands at the provider. */
  readonly standing: Standing
  /** What each statement of the provider came to; `applied` also where it was known before. */
  readonly results: readonly OutcomeResult[]
}

/**
 * Asks the provider what became of a payment and applies the answer by the rules of a callback.
 * Errors: `payment_not_found`, `operation_unsupported`, `gateway_not_configured`,
 * `refund_under_way`, those of the provider.
 */
export async function pollPayment(id: string, operating: Operating): Promise<PollResult> {
  const payment = await requireCharge(id, operating)
  requireOperation(gatewayOf(payment, operating), 'poll')
  try {
    return await pollCharge(payment, operating)
  } catch (error) {
    await putOff(payment, operating, error).catch((second: unknown) =>
      operating.processing.log.warn({ err: second }, 'a failed poll was not recorded'),
    )
    throw error
  }
}

/** A charge by its id. Error: `payment_not_found`. */
export async function requireCharge(id: string, operating: Operating): Promise<Payment> {
  const { db } = operating.processing.database
  const payment = isUuid(id) ? await findPayment(db, id) : undefined
  if (payment?.type === 'charge') return payment
  throw new QuittanceError('payment_not_found', `there is no payment ${JSON.stringify(id)}`)
}

async function pollCharge(payment: Payment, operating: Operating): Promise<PollResult> {
  const { gateway } = gatewayOf(payment, operating)
  const { db } = operating.processing.database
  const reply = await askAfter(payment, operating)
  await takeFound(payment, reply, operating)
  const { outcomes, standing } = reply
  const applied = await applyReport(
    { gateway: gateway.name, outcomes, cause: 'poll', queue: operating.queue },
    operating.processing,
  )
  await takeMode(payment, { outcomes, applied }, operating)
  const known = await requireCharge(payment.id, operating)
  const review = reviewOf({ payment: known, standing, applied })
  const now = await databaseNow(db)
  await settleRefunds(known, { reply, applied, review, now }, operating)
  if (review === undefined) await writeOff(known, { standing, now }, operating)
  const after = await requireCharge(payment.id, operating)
  const { retryWindow } = gateway
  const isUndecided = review !== undefined || standing === 'settling'
  const wait = nextPoll({ payment: after, now, retryWindow, isUndecided })
  const note = after.status === 'paid' ? noteOf(applied) : undefined
  const pollError = review ?? note ?? null
  await schedulePoll(db, payment.id, { wait, error: pollError })
  return {
    payment: { ...after, pollError },
    changed: after.status !== payment.status,
    standing,
    results: applied.map(resultOf),
  }
}

async function askAfter(payment: Payment, operating: Operating): Promise<PollReply> {
  const found = gatewayOf(payment, operating)
  const poll = requireOperation(found, 'poll')
  return askProvider(found, operating, (context) => poll(requestAbout(payment), context))
}

/**
 * A checkout that was found again is bound before anything is applied: callbacks wait for it. Error:
 * `provider_reply_invalid` where it is another payment's, and so is all that the reply says of it.
 */
async function takeFound(
  payment: Payment,
  { checkout }: PollReply,
  operating: Operating,
): Promise<void> {
  if (checkout === undefined || payment.checkout === 'none') return
  const state = checkout.url === undefined ? 'unknown' : 'open'
  const bound = await bindCheckout(payment, { state, found: checkout }, operating)
  if (bound !== undefined) return
  const text = `${payment.gateway} names a checkout that belongs to another payment`
  throw new QuittanceError('provider_reply_invalid', text)
}

/** The mode of what was applied is the payment's from then on: no test callback moves it any more. */
async function takeMode(
  { id, live }: Payment,
  said: { readonly outcomes: readonly Outcome[]; readonly applied: readonly Applied[] },
  { processing }: Operating,
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

/** The charge and its pending refunds are asked after again, after a while. */
async function putOff(payment: Payment, operating: Operating, cause: unknown): Promise<void> {
  const { db } = operating.processing.database
  const error = failureText(cause, operating)
  const wait = nextPollAfterFailure(payment, await databaseNow(db))
  // A payment that nobody asks after by itself is not taken on for a question by hand.
  const isAsked = payment.handedAt !== null && payment.status !== 'paid'
  await schedulePoll(db, payment.id, { wait: isAsked ? wait : null, error })
  for (const { refund } of await refundsOf(db, payment.id)) {
    if (refund.status === 'pending') await schedulePoll(db, refund.id, { wait, error })
  }
}

/** Whether the failure says something of the provider as a whole, not of this payment. */
export function isProviderDown(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'provider_unreachable'
}
