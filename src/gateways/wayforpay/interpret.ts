import {
  firstPaymentOf,
  ignored,
  type Outcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'
import type { IgnoredReason } from '../../payments/reasons.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { readSavedCard } from './read-saved-card.ts'
import { readCharge } from './read-charge.ts'
import { fieldsOf, readSignedFields } from './payload.ts'
import { paymentOutcome, type ChargeReport } from './payment-outcome.ts'
import { isContradicted, reasonCodes } from './reason-code.ts'
import { readReturnedMoney } from './read-returned-money.ts'

/** What a callback states. Asks the API only if the signed fields do not say enough. */
export async function interpretWayforpay(
  payload: Payload,
  context: InterpretContext,
): Promise<readonly Outcome[]> {
  if (payload.kind === 'unreadable') return [ignored('unreadable_payload', payload.reason)]
  const fields = fieldsOf(payload)
  if (fields === undefined) return [ignored('malformed_payload', 'body')]
  const read = readSignedFields(fields)
  if (!read.ok) return [ignored('malformed_payload', read.field)]
  const { signed } = read
  const charge = readCharge(signed.orderReference)
  if (charge === undefined) return [ignored('invalid_reference', detail(signed.orderReference))]
  const report = { signed, charge }
  const stated = statedBy(report)
  if (stated === 'money_returned') return readReturnedMoney(report, context)
  if (stated.type !== 'payment' || stated.status !== 'paid') return [stated]
  // The payer has it, too, and the money may be gone by now: no time is signed.
  const paid: PaymentOutcome = { ...stated, ifCanceled: 'review' }
  if (!savesCard(fields.get('recToken'))) return [paid]
  return [paid, ...(await readSavedCard(report, context))]
}

/** What the signed fields state of a charge, if they say enough. */
export function statedBy(
  report: ChargeReport,
): PaymentOutcome | ReturnType<typeof ignored> | 'money_returned' {
  const meaning = meaningOf(report)
  if (typeof meaning !== 'string' || meaning === 'money_returned') return meaning
  const outcome = paymentOutcome(report, meaning)
  return meaning === 'failed' ? { ...outcome, declineCode: report.signed.reasonCode } : outcome
}

/** A masked token, or any that a payer has put there, is reason enough to ask for the real one. */
function savesCard(recToken: unknown): boolean {
  return typeof recToken === 'string' && recToken !== ''
}

type Meaning = PaymentOutcome['status'] | 'money_returned' | ReturnType<typeof ignored>

/** If status and reason code disagree, or nothing is final, the callback decides nothing. */
function meaningOf(report: ChargeReport): Meaning {
  const { transactionStatus: status, reasonCode } = report.signed
  const said = `${status} ${reasonCode}`
  if (isContradicted(report.signed)) return odd(report, 'no_outcome', said)
  switch (status) {
    case 'Approved':
      return 'paid'
    case 'Declined':
      return reasonCode === reasonCodes.awaitingPayment ? undecided(said) : 'failed'
    case 'Expired':
      return 'canceled'
    case 'Refunded':
    case 'Voided':
      return 'money_returned'
    case 'Created':
    case 'InProcessing':
    case 'inProcessing':
    case 'Pending':
    case 'WaitingAuthComplete':
    case 'RefundInProcessing':
      return undecided(said)
    default:
      return odd(report, 'unhandled_event', status)
  }
}

function undecided(said: string): Meaning {
  return ignored('no_outcome', detail(said))
}

/** It is about money, in words that contradict each other or that we do not know. */
function odd({ charge }: ChargeReport, reason: IgnoredReason, said: string): Meaning {
  return ignored(reason, detail(said), { money: true, payment: firstPaymentOf(charge) })
}
