import { findCurrency } from '../../kernel/currency.ts'
import { parseMajorUnits } from '../../kernel/money.ts'
import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../gateway.ts'
import { bindingOf } from './account.ts'
import { readSavedCard } from './card.ts'
import { chargeOf } from './charge.ts'
import { fieldsOf, readSignedFields, type SignedFields } from './payload.ts'
import { readReturnedMoney } from './returned-money.ts'

/** What a callback states. Asks the API only where the signed fields do not say enough. */
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
  const charge = chargeOf(signed.orderReference)
  if (charge === undefined) return [ignored('invalid_reference', detail(signed.orderReference))]
  const meaning = meaningOf(signed)
  if (typeof meaning !== 'string') return [meaning]
  if (meaning === 'money_returned') return readReturnedMoney({ signed, charge }, context)
  const outcome: PaymentOutcome = {
    type: 'payment',
    status: meaning,
    ...charge,
    ...moneyOf(signed),
    ...bindingOf(signed.merchantAccount),
  }
  if (meaning !== 'paid' || !savesCard(fields.get('recToken'))) return [outcome]
  return [outcome, ...(await readSavedCard({ signed, charge }, context))]
}

/** A masked token, and any that a payer has put there, is reason enough to ask for the real one. */
function savesCard(recToken: unknown): boolean {
  return typeof recToken === 'string' && recToken !== ''
}

type Meaning = PaymentOutcome['status'] | 'money_returned' | ReturnType<typeof ignored>

/** `1151`: the invoice still waits for its payer. */
const awaitingPayment = '1151'
const ok = '1100'

/** Where status and reason code disagree, or nothing is final, the callback decides nothing. */
function meaningOf({ transactionStatus: status, reasonCode }: SignedFields): Meaning {
  switch (status) {
    case 'Approved':
      return reasonCode === ok ? 'paid' : undecided(status, reasonCode)
    case 'Declined':
      return reasonCode === awaitingPayment || reasonCode === ok
        ? undecided(status, reasonCode)
        : 'failed'
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
      return undecided(status, reasonCode)
    default:
      return ignored('unhandled_event', detail(status))
  }
}

function undecided(status: string, reasonCode: string): Meaning {
  return ignored('no_outcome', detail(`${status} ${reasonCode}`))
}

/** What cannot be read is left out: a paid outcome without it settles nothing. */
function moneyOf({ amount, currency }: SignedFields): Pick<PaymentOutcome, 'amount' | 'currency'> {
  if (findCurrency(currency) === undefined) return {}
  const units = parseMajorUnits(amount, currency)
  return { currency, ...(units !== undefined && { amount: units }) }
}
