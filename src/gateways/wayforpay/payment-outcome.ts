import { findCurrency } from '../../kernel/currency.ts'
import { parseMajorUnits } from '../../kernel/money.ts'
import type { PaymentOutcome } from '../../payments/outcome.ts'
import { bindingOf } from './account.ts'
import type { Charge } from './read-charge.ts'
import type { SignedFields } from './payload.ts'

/** What is reported of a charge, limited to what is signed. */
export interface ChargeReport {
  readonly signed: SignedFields
  readonly charge: Charge
}

/** The charge in this status, with what binds it to the payment. */
export function paymentOutcome(
  { signed, charge }: ChargeReport,
  status: PaymentOutcome['status'],
): PaymentOutcome {
  return {
    type: 'payment',
    status,
    ...charge,
    ...moneyOf(signed),
    ...bindingOf(signed.merchantAccount),
  }
}

/** Values that cannot be read are left out: a paid outcome without them settles nothing. */
function moneyOf({ amount, currency }: SignedFields): Pick<PaymentOutcome, 'amount' | 'currency'> {
  if (findCurrency(currency) === undefined) return {}
  const units = parseMajorUnits(amount, currency)
  return { currency, ...(units !== undefined && { amount: units }) }
}
