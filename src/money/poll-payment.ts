import { schedulePoll } from '../database/checkouts.ts'
import { findPayment } from '../database/payments.ts'
import type { PollReply, PollRequest, Standing } from '../gateways/operations.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied } from '../processing/applied.ts'
import { applyReport } from '../processing/apply-report.ts'
import { requireOperation } from '../processing/plan-checkout.ts'
import { recordOpened } from './open-checkout.ts'
import { askProvider, failureText, gatewayOf, type Operating } from './operating.ts'
import { nextPoll, nextPollAfterFailure } from './poll-schedule.ts'
import { settleRefunds } from './settle-refunds.ts'
import { writeOff } from './write-off.ts'

/** What asking the provider came to. */
export interface PollResult {
  /** As it stands now. */
  readonly payment: Payment
  /** What may still become of it at the provider. */
  readonly standing: Standing
  /** What each statement of the provider came to. */
  readonly results: readonly OutcomeResult[]
}

/**
 * Asks the provider what became of a payment and applies the answer by the rules of a callback.
 * Errors: `payment_not_found`, `operation_unsupported`, `gateway_not_configured`, those of the
 * provider.
 */
export async function pollPayment(id: string, operating: Operating): Promise<PollResult> {
  const payment = await requireCharge(id, operating)
  const found = gatewayOf(payment, operating)
  requireOperation(found, 'poll')
  try {
    return await pollCharge(payment, operating)
  } catch (error) {
    const { db } = operating.processing.database
    const at = nextPollAfterFailure(payment, operating.now())
    // A payment that nobody asks after by itself is not taken on for a question by hand.
    const scheduled = payment.handedAt === null || payment.status === 'paid' ? null : at
    await schedulePoll(db, id, { at: scheduled, error: failureText(error, operating) }).catch(
      (second: unknown) => operating.processing.log.warn({ err: second }, 'poll not recorded'),
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
  const reply = await askAfter(payment, operating)
  const current = await takeFound(payment, reply, operating)
  const applied = await applyReport(
    { gateway: gateway.name, outcomes: reply.outcomes, cause: 'poll', queue: operating.queue },
    operating.processing,
  )
  await settleRefunds(current, reply, operating)
  await writeOff(payment.id, reply.standing, operating)
  const after = await requireCharge(payment.id, operating)
  const at = nextPoll({ payment: after, now: operating.now(), retryWindow: gateway.retryWindow })
  await schedulePoll(operating.processing.database.db, payment.id, { at, error: null })
  return { payment: after, standing: reply.standing, results: applied.map(resultOf) }
}

/** What the provider is asked about, however the answer is used. */
export function pollRequest(payment: Payment): PollRequest {
  return { payment, handedAt: payment.handedAt ?? payment.createdAt }
}

async function askAfter(payment: Payment, operating: Operating): Promise<PollReply> {
  const found = gatewayOf(payment, operating)
  const { poll } = found.gateway
  if (poll === undefined) throw new Error(`gateway ${payment.gateway} cannot be asked`)
  return askProvider(found, operating, (context) => poll(pollRequest(payment), context))
}

/** A checkout that was found again is bound before anything is applied: callbacks wait for it. */
async function takeFound(
  payment: Payment,
  { checkout }: PollReply,
  operating: Operating,
): Promise<Payment> {
  if (checkout === undefined || payment.checkout === 'none') return payment
  const state = checkout.url === undefined ? 'unknown' : 'open'
  const bound = await recordOpened(payment, operating, { state, found: checkout })
  const isNew =
    bound.checkoutReference !== payment.checkoutReference ||
    bound.providerReference !== payment.providerReference
  if (isNew) await operating.onReferences(bound)
  return bound
}

function resultOf(applied: Applied): OutcomeResult {
  return applied.kind === 'claim' ? { result: 'applied', type: applied.type } : applied.result
}

/** Whether the failure says something of the provider as a whole, not of this payment. */
export function isProviderDown(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'provider_unreachable'
}
