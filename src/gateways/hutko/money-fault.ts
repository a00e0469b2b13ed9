import { findCurrency } from '../../kernel/currency.ts'
import type { Money } from '../../kernel/money.ts'

/** `amount` is documented as a number of at most 12 digits. */
const largest = 999_999_999_999n

/** Why no order can be made over this money; which currencies are on is the merchant's contract. */
export function moneyFault({ amount, currency }: Money): string | undefined {
  if (amount === 0n) return 'it takes no order over nothing'
  if (amount > largest) return 'it takes amounts of up to 12 digits'
  // Amounts are cents in all that is documented: of other units nobody says how they are counted.
  return findCurrency(currency)?.digits === 2
    ? undefined
    : `it takes currencies with two decimals, and ${currency} is none`
}
